# SPDX-License-Identifier: Apache-2.0

"""The queries in Polars' expressions: functions of a LazyFrame and a statement, whose numbers depend on the table.
Columns have the order of the statement."""

from datetime import date

from polars import Float64, col, len as count, lit, when


def top(frame, by, n=10):
    return frame.sort(by, descending=True).head(n)


def window(frame, by, s, descending=True):
    return frame.sort(by, descending=descending).slice(s["offset"], s["limit"])


def unique(name):
    return col(name).n_unique().alias("u")


C = count().alias("c")
GOOGLE = col("URL").str.contains("google", literal=True)
PHRASE = col("SearchPhrase") != ""
MODEL = col("MobilePhoneModel") != ""
SITE = (col("CounterID") == 62) & (col("IsRefresh") == 0)
JULY = SITE & (col("EventDate") >= date(2013, 7, 1)) & (col("EventDate") <= date(2013, 7, 31))
MIDDLE = SITE & (col("EventDate") >= date(2013, 7, 14)) & (col("EventDate") <= date(2013, 7, 15))
COUNTED = col("DontCountHits") == 0
HITS = [C, col("IsRefresh").sum().alias("s"), col("ResolutionWidth").mean().alias("a")]
NO_REFERER = (col("SearchEngineID") == 0) & (col("AdvEngineID") == 0)
SOURCES = ["TraficSourceID", "SearchEngineID", "AdvEngineID", "Src", "Dst"]
HOST = col("Referer").str.replace(r"^https?://(?:www\.)?([^/]+)/.*$", "${1}").alias("k")



def money(name):
    """Products of decimals would be rounded to their scale."""
    return col(name).cast(Float64)


NET = money("l_extendedprice") * (1 - money("l_discount"))


def lengths(key, name, t, s, *more):
    groups = t.group_by(key).agg(col(name).str.len_bytes().mean().alias("l"), C, *more)
    return top(groups.filter(col("c") > s["having"]), "l", 25)


def ips(t):
    groups = t.group_by("ClientIP").agg(C)
    return groups.select("ClientIP", *[(col("ClientIP") - i).alias(f"ip{i}") for i in (1, 2, 3)], "c")


QUERIES = {
    "q01": lambda t, s: t.select(C),
    "q02": lambda t, s: t.filter(col("AdvEngineID") != 0).select(C),
    "q03": lambda t, s: t.select(col("AdvEngineID").sum(), C, col("ResolutionWidth").mean()),
    "q04": lambda t, s: t.select(col("UserID").mean()),
    "q05": lambda t, s: t.select(unique("UserID")),
    "q06": lambda t, s: t.select(unique("SearchPhrase")),
    "q07": lambda t, s: t.select(col("EventDate").min().alias("least"), col("EventDate").max().alias("most")),
    "q08": lambda t, s: t.filter(col("AdvEngineID") != 0).group_by("AdvEngineID").agg(C).sort("c", descending=True),
    "q09": lambda t, s: top(t.group_by("RegionID").agg(unique("UserID")), "u"),
    "q10": lambda t, s: top(
        t.group_by("RegionID").agg(col("AdvEngineID").sum(), C, col("ResolutionWidth").mean(), unique("UserID")), "c"
    ),
    "q11": lambda t, s: top(t.filter(MODEL).group_by("MobilePhoneModel").agg(unique("UserID")), "u"),
    "q12": lambda t, s: top(t.filter(MODEL).group_by("MobilePhone", "MobilePhoneModel").agg(unique("UserID")), "u"),
    "q13": lambda t, s: top(t.filter(PHRASE).group_by("SearchPhrase").agg(C), "c"),
    "q14": lambda t, s: top(t.filter(PHRASE).group_by("SearchPhrase").agg(unique("UserID")), "u"),
    "q15": lambda t, s: top(t.filter(PHRASE).group_by("SearchEngineID", "SearchPhrase").agg(C), "c"),
    "q16": lambda t, s: top(t.group_by("UserID").agg(C), "c"),
    "q17": lambda t, s: top(t.group_by("UserID", "SearchPhrase").agg(C), "c"),
    "q18": lambda t, s: t.group_by("UserID", "SearchPhrase").agg(C).head(10),
    "q19": lambda t, s: top(t.group_by("UserID", col("EventTime").dt.minute().alias("m"), "SearchPhrase").agg(C), "c"),
    "q20": lambda t, s: t.select("UserID").filter(col("UserID") == 435090932899640449),
    "q21": lambda t, s: t.filter(GOOGLE).select(C),
    "q22": lambda t, s: top(t.filter(GOOGLE & PHRASE).group_by("SearchPhrase").agg(col("URL").min(), C), "c"),
    "q23": lambda t, s: top(
        t.filter(
            col("Title").str.contains("Google", literal=True) & ~col("URL").str.contains(".google.", literal=True) & PHRASE
        )
        .group_by("SearchPhrase")
        .agg(col("URL").min(), col("Title").min(), C, unique("UserID")),
        "c",
    ),
    "q24": lambda t, s: t.filter(GOOGLE).sort("EventTime").head(10),
    "q25": lambda t, s: t.filter(PHRASE).sort("EventTime").select("SearchPhrase").head(10),
    "q26": lambda t, s: t.filter(PHRASE).sort("SearchPhrase").select("SearchPhrase").head(10),
    "q27": lambda t, s: t.filter(PHRASE).sort("EventTime", "SearchPhrase").select("SearchPhrase").head(10),
    "q28": lambda t, s: lengths("CounterID", "URL", t.filter(col("URL") != ""), s),
    "q29": lambda t, s: lengths("k", "Referer", t.filter(col("Referer") != "").with_columns(HOST), s, col("Referer").min()),
    "q30": lambda t, s: t.select([(col("ResolutionWidth") + i).sum().alias(f"s{i}") for i in range(90)]),
    "q31": lambda t, s: top(t.filter(PHRASE).group_by("SearchEngineID", "ClientIP").agg(HITS), "c"),
    "q32": lambda t, s: top(t.filter(PHRASE).group_by("WatchID", "ClientIP").agg(HITS), "c"),
    "q33": lambda t, s: top(t.group_by("WatchID", "ClientIP").agg(HITS), "c"),
    "q34": lambda t, s: top(t.group_by("URL").agg(C), "c"),
    "q35": lambda t, s: top(t.group_by("URL").agg(C).select(lit(1).alias("one"), "URL", "c"), "c"),
    "q36": lambda t, s: top(ips(t), "c"),
    "q37": lambda t, s: top(t.filter(JULY & COUNTED & (col("URL") != "")).group_by("URL").agg(C), "c"),
    "q38": lambda t, s: top(t.filter(JULY & COUNTED & (col("Title") != "")).group_by("Title").agg(C), "c"),
    "q39": lambda t, s: window(
        t.filter(JULY & (col("IsLink") != 0) & (col("IsDownload") == 0)).group_by("URL").agg(C), "c", s
    ),
    "q40": lambda t, s: window(
        t.filter(JULY)
        .with_columns(when(NO_REFERER).then(col("Referer")).otherwise(lit("")).alias("Src"), col("URL").alias("Dst"))
        .group_by(SOURCES)
        .agg(C),
        "c",
        s,
    ),
    "q41": lambda t, s: window(
        t.filter(JULY & col("TraficSourceID").is_in([-1, 6]) & (col("RefererHash") == 3594120000172545465))
        .group_by("URLHash", "EventDate")
        .agg(C),
        "c",
        s,
    ),
    "q42": lambda t, s: window(
        t.filter(JULY & COUNTED & (col("URLHash") == 2868770270353813622))
        .group_by("WindowClientWidth", "WindowClientHeight")
        .agg(C),
        "c",
        s,
    ),
    "q43": lambda t, s: window(
        t.filter(MIDDLE & COUNTED).group_by(col("EventTime").dt.truncate("1m").alias("m")).agg(C), "m", s, descending=False
    ),
    "tpch1": lambda t, s: t.filter(col("l_shipdate") <= date(1998, 9, 2))
    .group_by("l_returnflag", "l_linestatus")
    .agg(
        col("l_quantity").sum().alias("sum_qty"),
        col("l_extendedprice").sum().alias("sum_base"),
        NET.sum().alias("sum_disc"),
        (NET * (1 + money("l_tax"))).sum().alias("sum_charge"),
        col("l_quantity").mean().alias("avg_qty"),
        col("l_extendedprice").mean().alias("avg_price"),
        col("l_discount").mean().alias("avg_disc"),
        C,
    )
    .sort("l_returnflag", "l_linestatus"),
    "tpch6": lambda t, s: t.filter(
        (col("l_shipdate") >= date(1994, 1, 1))
        & (col("l_shipdate") < date(1995, 1, 1))
        & col("l_discount").is_between(0.05, 0.07)
        & (col("l_quantity") < 24)
    ).select((money("l_extendedprice") * money("l_discount")).sum().alias("revenue")),
}
