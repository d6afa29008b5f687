#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes functions.json: random calls of functions and other forms, each with DuckDB's value. Needs the package duckdb.

Arguments that DuckDB refuses, and that are an error here too, have the value "error". Documented differences are left out."""

import json
import random

import duckdb

r = random.Random(11)
TEXTS = ["''", "'a'", "'armchair'", "'  a b '", "'日本語'", "'x.y..z'", "'Äb'", "'5%_'", "'aaa'", "'it''s'", "null"]
INTEGERS = ["0", "1", "2", "3", "-1", "-2", "7", "100", "-9000000000", "null"]
FLOATS = ["0.0", "0.5", "-0.5", "2.5", "-2.5", "1e10", "-1234.567", "1e-5", "9.0", "null"]


PARTS = ["year", "Months", "day", "hour", "minute", "second", "milliseconds", "microsecond", "dow", "isodow", "doy", "week", "isoyear",
         "decade", "century", "millennium", "quarter"]
UNITS = ["year", "quarter", "month", "day", "hour", "minute", "second"]
FIELDS = ["year", "quarter", "month", "week", "weekofyear", "day", "dayofmonth", "dayofweek", "weekday", "isodow", "dayofyear", "hour",
          "minute", "second", "millisecond", "microsecond", "decade", "century", "millennium", "isoyear"]
TRUNCATED = ["millennium", "century", "decade", "YEAR", "quarters", "month", "week", "day", "hour"]


def day():
    return f"date '{r.choice(['1999', '2000', '2020', '2024', '2026'])}-{r.randint(1, 12):02}-{r.randint(1, 28):02}'"


def when():
    return day() if r.random() < 0.4 else moment()


def moment():
    return f"timestamp '{day()[6:-1]} {r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.choice(['00', '07.25', '59.999999'])}'"


def of(kind, depth):
    if depth == 0 or r.random() < 0.4:
        value = r.choice({"t": TEXTS, "i": INTEGERS, "f": FLOATS}[kind])
        if value == "null":
            return {"t": "cast(null as varchar)", "i": "cast(null as bigint)", "f": "cast(null as double)"}[kind]
        return {"t": "{}", "i": "cast({} as bigint)", "f": "cast({} as double)"}[kind].format(value)
    make = lambda k: of(k, depth - 1)  # noqa: E731
    t, i, f = lambda: make("t"), lambda: make("i"), lambda: make("f")
    small = lambda: r.choice(["1", "2", "3", "-1", "-2", "5"])  # noqa: E731
    return r.choice({
        "t": [
            lambda: f"trim({t()})", lambda: f"ltrim({t()})", lambda: f"rtrim({t()})", lambda: f"reverse({t()})",
            lambda: f"left({t()}, {small()})", lambda: f"right({t()}, {small()})", lambda: f"replace({t()}, {t()}, {t()})",
            lambda: f"lpad({t()}, {r.choice('035')}, '.-')", lambda: f"rpad({t()}, {r.choice('035')}, '.-')",
            lambda: f"split_part({t()}, '.', {r.choice([small(), '0'])})", lambda: f"chr({r.choice(['65', '233', '26085', '-1', '1114112'])})",
            lambda: f"substr({t()}, 2, 2)", lambda: f"nullif({t()}, {t()})", lambda: f"ifnull({t()}, {t()})",
            lambda: f"greatest({t()}, {t()})", lambda: f"least({t()}, {t()}, {t()})", lambda: f"{i()}::varchar",
            lambda: f"if({truth(depth - 1)}, {t()}, {t()})", lambda: f"ucase({t()})",
            lambda: f"case {t()} when {t()} then {t()} when 'a' then 'b' end",
            lambda: f"regexp_extract({t()}, '{r.choice(['[a-z]+', '(.)[.](.)', '^.', 'x*'])}')",
            lambda: f"regexp_extract({t()}, '([a-z])(.)', {r.choice('012')})", lambda: f"concat_ws({t()}, {t()}, {i()}, {t()})",
            lambda: f"strftime({when()}, '{r.choice(['%Y-%m-%d', '%a %A %b %B %j %U %W', '%V %G %u %w %p %I', '%% %-d.%-m. %y', '%H:%M:%S.%f'])}')",
            lambda: f"dayname({when()})", lambda: f"monthname({when()})", lambda: f"typeof({r.choice([t, i, f, when])()})",
            lambda: f"try_cast({t()} as {r.choice(['bigint', 'date'])})::varchar",
            lambda: f"{r.choice(['lower', 'lcase', 'upper'])}({t()})", lambda: f"({t()} || {t()})",
            lambda: f"concat({r.choice(TEXTS[:-1])}, {r.choice(TEXTS[:-1])}, {r.choice(TEXTS[:-1])})",
            lambda: f"substring({t()}, {r.choice('123')}{r.choice(['', ', 0', ', 1', ', 3'])})",
            lambda: f"regexp_replace({t()}, '{r.choice(['a', '[aA]', '(.)[.](.)', '[0-9]*$', ' +'])}', '{r.choice(['', 'b', '<>'])}', '{r.choice(['g', 'gi'])}')",
        ],
        "i": [
            lambda: f"abs({i()})", lambda: f"strpos({t()}, {t()})", lambda: f"instr({t()}, {t()})",
            lambda: f"position({t()} in {t()})", lambda: f"len({t()})", lambda: f"greatest({i()}, {i()}, {i()})",
            lambda: f"least({i()}, {i()})", lambda: f"nullif({i()}, {i()})", lambda: f"(+{i()})",
            lambda: f"case {i()} when 1 then {i()} when {i()} then 2 else 3 end", lambda: f"coalesce({i()}, 4)",
            lambda: f"year(date '2026-0{r.randint(1, 9)}-05' + interval '{r.randint(1, 9)} months')",
            lambda: f"dayofyear({day()})", lambda: f"date_part('quarter', {day()})",
            lambda: f"date_part('{r.choice(PARTS)}', {when()})", lambda: f"({day()} - {day()})",
            lambda: f"date_diff('{r.choice(UNITS)}', {when()}, {when()})", lambda: f"year({day()} + {r.choice(['1', '-40', '1000'])})",
            lambda: f"year({day()} - {r.choice(['7', '-40', '1000'])})", lambda: f"try_cast({t()} as bigint)",
            lambda: f"year(time_bucket(interval '{r.choice(['2 days', '5 months', '3 years', '1 week'])}', {when()}))",
            lambda: f"dayofyear(time_bucket(interval '{r.choice(['36 hours', '2 days', '1 week', '90 minutes'])}', {moment()}))",
            lambda: f"dayofyear(date_trunc('{r.choice(TRUNCATED)}', {when()}))", lambda: f"year(date_trunc('{r.choice(TRUNCATED)}', {when()}))",
            lambda: f"day(last_day({when()}))", lambda: f"{r.choice(['length', 'char_length', 'character_length', 'strlen'])}({t()})",
            lambda: f"ascii({t()})", lambda: f"{r.choice(['unicode', 'ord'])}({r.choice(TEXTS[1:])}::varchar)", lambda: f"sign({r.choice([i, f])()})::bigint",
            lambda: f"{r.choice(FIELDS)}({when()})", lambda: f"extract({r.choice(FIELDS)} from {when()})", lambda: f"epoch({day()})::bigint",
            lambda: f"datepart('{r.choice(PARTS)}', {when()})", lambda: f"datediff('{r.choice(UNITS)}', {when()}, {when()})",
            lambda: f"dayofyear(datetrunc('{r.choice(TRUNCATED)}', {when()}))",
            lambda: f"dayofyear(date_add({day()}, interval '{r.choice(['1 day', '3 months', '2 years', '-1 week'])}'))",
            lambda: f"hour(epoch_ms({r.choice(['0', '-1', '86399999', '1785542400000'])}))",
        ],
        "f": [
            lambda: f"abs({f()})", lambda: f"floor({f()})", lambda: f"ceil({f()})", lambda: f"round({f()})",
            lambda: f"trunc({f()})", lambda: f"round({f()}, {r.choice(['1', '2', '0'])})", lambda: f"sqrt({f()})",
            lambda: f"exp({r.choice(['0.0', '0.5', '-2.5'])}::double)", lambda: f"ln({f()})", lambda: f"log({f()})", lambda: f"log2({f()})",
            lambda: f"pow(abs({f()}), 0.5)", lambda: f"greatest({f()}, {f()})", lambda: f"least({f()}, {f()})",
            lambda: f"{i()}::double", lambda: f"ceiling({f()})", lambda: f"nullif({f()}, 0.5)",
            lambda: f"log10({f()})", lambda: f"power(abs({f()}), 2)",
        ],
    }[kind])()


def truth(depth):
    kind = r.choice("tif")
    a, b = of(kind, depth), of(kind, depth)
    return r.choice([
        lambda: f"({a} = {b}) is {r.choice(['', 'not '])}{r.choice(['true', 'false', 'unknown'])}",
        lambda: f"{a} is {r.choice(['', 'not '])}distinct from {b}",
        lambda: f"{of('t', depth)} like '{r.choice(['a%', '5!%!_', '!%%', '_!_', '%'])}' escape '!'",
        lambda: f"{of('t', depth)} not ilike '%A%'",
        lambda: f"{of('t', depth)} glob '{r.choice(['a*', '*a', '[a-f]*', '[!a]*', '*.*'])}'",
        lambda: f"{of('t', depth)} {r.choice(['', 'not '])}similar to '{r.choice(['a.*', '(ab|.)*', '.', '[a-z]+'])}'",
        lambda: f"regexp_matches({of('t', depth)}, '{r.choice(['a', '^a', 'A', '[.]', 'b *$'])}', '{r.choice('ic')}')",
        lambda: f"regexp_full_match({of('t', depth)}, '{r.choice(['a*', '.*', '[a-z ]*'])}')",
        lambda: f"{r.choice(['contains', 'starts_with', 'prefix', 'ends_with', 'suffix'])}({of('t', depth)}, {of('t', depth)})",
        lambda: f"{a} <= {b}",
    ])()


def aggregate():
    return r.choice([f"bool_and({truth(2)})", f"bool_or({truth(2)})", f"count_if(coalesce({truth(2)}, false))"])


db = duckdb.connect()
cases, seen = [], set()
while len(cases) < 1500:
    kind = r.choice("tttiiiffbbba")
    text = {"a": aggregate, "b": lambda: truth(2)}.get(kind, lambda: of(kind, 3))()
    if text in seen:
        continue
    seen.add(text)
    try:
        value = db.execute(f"select cast({text} as varchar)").fetchone()[0]
    except (duckdb.OutOfRangeException, duckdb.InvalidInputException):
        value = "error"
    cases.append({"sql": text, "value": "nan" if value == "-nan" else value})
with open("functions.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")
