# SPDX-License-Identifier: Apache-2.0

"""Makes table hits in another shape: see run.sh. The shapes are

  pyarrow  the table of cbdata as pyarrow writes it by default: dictionaries, Snappy, row groups of 1,048,576 rows
  polars   as Polars writes it by default: Zstandard, about 250,000 rows a row group
  duckdb   as DuckDB writes it by default: Snappy, row groups of 122,880 rows
  few      by pyarrow in one row group
  zipf     another table: the 25 columns that the queries name, by numpy and pyarrow, in the order of their time and in row
           groups of 500,000 rows. Users, sites, pages and phrases have Zipf's distribution, so that a site has rows in
           every row group.
"""

import argparse
import os
import sys

FIRST = 1_372_636_800  # 2013-07-01, in seconds
DAYS = 31
GROUP = 500_000


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("shape", choices=["pyarrow", "polars", "duckdb", "few", "zipf"])
    p.add_argument("--source", help="the table of cbdata; zipf needs none")
    p.add_argument("--rows", type=int, default=10_000_000, help="rows of zipf")
    p.add_argument("--seed", type=int, default=1, help="seed of zipf")
    p.add_argument("--out", required=True, help="file to write")
    a = p.parse_args()
    if a.shape != "zipf" and not a.source:
        p.error("--source is missing")
    part = a.out + ".part"
    if a.shape == "zipf":
        write_zipf(part, a.rows, a.seed)
    else:
        REWRITE[a.shape](a.source, part)
    os.replace(part, a.out)


def by_pyarrow(source, out, rows=None):
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(source), out, row_group_size=rows)


def in_one_group(source, out):
    import pyarrow.parquet as pq

    by_pyarrow(source, out, pq.read_metadata(source).num_rows)


def by_polars(source, out):
    import polars

    polars.read_parquet(source).write_parquet(out)


def by_duckdb(source, out):
    import duckdb

    duckdb.sql(f"COPY (FROM read_parquet('{source}')) TO '{out}' (FORMAT parquet)")


REWRITE = {"pyarrow": by_pyarrow, "polars": by_polars, "duckdb": by_duckdb, "few": in_one_group}


def write_zipf(out, rows, seed):
    import numpy as np
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    pages = texts(np, "http://{0}.example.ru/{1}/{2}", 1_000_000, "http://maps.google.ru/q={0}", 5_000)
    referers = texts(np, "http://search.example/{1}?text={0}", 600_000, "http://www.google.ru/search?q={0}", 50)
    titles = texts(np, "Страница {0}: новости, погода и цены в городе {1}", 500_000, "Google {0}", 3_000)
    phrases = texts(np, "купить {0} дешево {1}", 400_000, "google {0}", 9_000)
    phrases[0] = ""
    writer = None
    for first in range(0, rows, GROUP):
        n = min(GROUP, rows - first)
        table = hits(np, rng, n, first / rows, n / rows, pages, referers, titles, phrases)
        writer = writer or pq.ParquetWriter(out, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    writer.close()


def texts(np, form, n, other, every):
    """n texts by form; each every-th is by other instead."""
    words = ["дом", "auto", "kino", "работа", "phone", "весна", "shop", "море"]
    made = [
        other.format(i) if i % every == every - 1 else form.format(i, words[i % 8], mixed(i) % 1_000_000) for i in range(n)
    ]
    return np.array(made, dtype=object)


def mixed(i):
    """A number of 63 bits that depends on i."""
    i = (i + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
    i = (i ^ i >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
    return (i ^ i >> 31) >> 1


def mixed_array(np, ranks):
    i = (ranks.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    i = (i ^ (i >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((i ^ (i >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)


def hits(np, rng, n, start, share, pages, referers, titles, phrases):
    """n rows from the moment start of the month, which take a share of it."""
    import pyarrow as pa

    def zipf(a, limit):
        return (rng.zipf(a, n) - 1) % limit

    def some(p, values=1):
        return np.where(rng.random(n) < p, values, 0).astype(np.int16)

    user = zipf(1.25, 3_000_000)
    site = zipf(1.4, 6_000)
    page = zipf(1.3, len(pages))
    moment = FIRST + ((start + share * np.sort(rng.random(n))) * DAYS * 86400).astype(np.int64)
    user_id = mixed_array(np, user)
    user_id[user == 40] = 435090932899640449
    url_hash = mixed_array(np, page + 1)
    url_hash[page == 2] = 2868770270353813622
    referer_hash = mixed_array(np, page + 2)
    referer_hash[page == 3] = 3594120000172545465
    phrase = np.where(rng.random(n) < 0.13, 1 + zipf(1.35, len(phrases) - 1), 0)
    columns = {
        "WatchID": rng.integers(0, 1 << 62, n),
        "Title": titles[zipf(1.3, len(titles))],
        "EventTime": pa.array(moment * 1000, pa.timestamp("ms")),
        "EventDate": pa.array((moment // 86400).astype(np.int32), pa.date32()),
        "CounterID": np.where(site == 9, 62, site * 13 + 1000).astype(np.int32),
        "ClientIP": (mixed_array(np, user) >> 31).astype(np.int32),
        "RegionID": (mixed_array(np, user) % 5_000 % (1 + user % 4_999)).astype(np.int32),
        "UserID": user_id,
        "URL": pages[page],
        "Referer": np.where(rng.random(n) < 0.8, referers[zipf(1.3, len(referers))], ""),
        "IsRefresh": some(0.1),
        "ResolutionWidth": (1024 + 64 * zipf(1.5, 40)).astype(np.int16),
        "MobilePhone": np.where(user % 9 == 0, user % 90, 0).astype(np.int16),
        "MobilePhoneModel": np.where(user % 11 == 0, np.array([f"model {i}" for i in range(150)], dtype=object)[user % 150], ""),
        "TraficSourceID": (zipf(1.6, 12) - 1).astype(np.int16),
        "SearchEngineID": np.where(phrase > 0, 1 + zipf(1.7, 60), 0).astype(np.int16),
        "SearchPhrase": phrases[phrase],
        "AdvEngineID": some(0.02, 1 + zipf(1.8, 20)),
        "WindowClientWidth": (800 + zipf(1.4, 1200)).astype(np.int16),
        "WindowClientHeight": (500 + zipf(1.4, 900)).astype(np.int16),
        "IsLink": some(0.05),
        "IsDownload": some(0.01),
        "DontCountHits": some(0.06),
        "RefererHash": referer_hash,
        "URLHash": url_hash,
    }
    return pa.table({name: v if isinstance(v, pa.Array) else pa.array(v) for name, v in columns.items()})


if __name__ == "__main__":
    sys.exit(main())
