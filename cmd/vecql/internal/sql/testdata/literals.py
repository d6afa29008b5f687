#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes literals.json: random expressions on literals, each with DuckDB's value. Needs the package duckdb.

An expression is a pair of texts, for this module and for DuckDB. They differ where docs/sql.md names a difference."""

import json
import random

import duckdb

r = random.Random(7)
UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
PARTS = ["year", "quarter", "month", "week", "day", "dow", "doy"]
CLOCKS = ["00:00:00", "12:30:00", "23:59:59.999999", "06:00:00.5", "01:02:03"]


def both(text):
    return text, text


def joined(pattern, *pairs):
    return tuple(pattern.format(*(p[i] for p in pairs)) for i in (0, 1))


def day():
    return r.choice(["2026-07-05", "2026-07-06", "1969-12-31", "2024-02-29", "1900-03-01", "2026-06-29", "9999-12-31", "0001-01-01"])


def date(depth):
    if depth == 0:
        return both(f"date '{day()}'")
    n, unit = r.randint(-40, 40), r.choice(["day", "month", "week", "year"])
    return r.choice([
        lambda: joined("date_trunc('%s', {0})" % r.choice(UNITS[3:]), date(depth - 1)),
        lambda: (lambda d: (f"({d[0]} + interval '{n}' {unit})", f"cast({d[1]} + interval '{n}' {unit} as date)"))(both("date '2026-01-31'")),
        lambda: joined("coalesce(null, {0}, {1})", date(depth - 1), date(0)),
        lambda: joined("case when {0} then {1} else {2} end", truth(depth - 1), date(depth - 1), date(0)),
        lambda: joined("cast({0} as date)", local(depth - 1)),
    ])()


def local(depth):
    if depth == 0:
        return both(f"timestamp '{day()} {r.choice(CLOCKS)}'")
    n, unit = r.randint(-40, 40), r.choice(["second", "hour", "day", "month", "year"])
    return r.choice([
        lambda: joined("date_trunc('%s', {0})" % r.choice(UNITS), local(depth - 1)),
        lambda: both(f"(timestamp '2026-01-31 {r.choice(CLOCKS)}' - interval '{n}' {unit})"),
        lambda: both(f"(date '2026-01-31' + interval '{abs(n)}' hour)"),
        lambda: joined("coalesce({0}, {1})", local(depth - 1), local(0)),
        lambda: joined("case when {0} then {1} else {2} end", truth(depth - 1), date(0), local(0)),
        lambda: joined("cast({0} as timestamp)", date(depth - 1)),
    ])()


def zoned():
    text = f"2026-0{r.randint(1, 9)}-0{r.randint(1, 9)} {r.choice(CLOCKS)}{r.choice(['+02:00', '-05:30', 'Z'])}"
    return f"timestamp '{text}'", f"timestamptz '{text}'"


def clock():
    return both(f"time '{r.choice(CLOCKS)}'")


def binary():
    digits = r.choice(["00", "00ff", "616263", "", "ff00ff"])
    return f"x'{digits}'", f"from_hex('{digits}')"


def uuid():
    return both(f"uuid '0000000{r.randint(0, 3)}-0000-0000-0000-00000000000{r.randint(0, 3)}'")


def number():
    return both(r.choice(["0", "1", "-1", "2.5", "-0.5", "9223372036854775807", "9223372036854775808", "18446744073709551615", "7.0"]))


def text_of_date():
    return both(f"'{day()}'")


def truth(depth):
    kinds = [lambda: date(depth), lambda: local(depth), zoned, clock, binary, uuid, number]
    kind = r.choice(kinds)
    a, b, c = kind(), kind(), kind()
    if kind is kinds[0] and r.random() < 0.3:
        a, b = date(0), text_of_date()
    elif kind is kinds[1] and r.random() < 0.3:
        a, b = r.sample([date(0), local(0)], 2)
        c = local(0)
    return r.choice([
        lambda: joined("{0} %s {1}" % r.choice(["=", "<>", "<", "<=", ">", ">="]), a, b),
        lambda: joined("{0} between {1} and {2}", a, b, c),
        lambda: joined("{0} in ({1}, {2})", a, b, c),
        lambda: joined("{0} in ({1}, null)", a, b),
        lambda: joined("{0} not in ({1}, {2})", a, b, c),
        lambda: joined("{0} is not null", a),
    ])()


def extracted(depth):
    kind = r.choice([date, local])
    return joined("extract(%s from {0})" % r.choice(PARTS), kind(depth))


def length():
    d = binary()
    return f"length({d[0]})", f"octet_length({d[1]})"


def any_expression():
    depth = r.randint(0, 2)
    return r.choice([date, local, truth, truth, truth, extracted, lambda _: zoned(), lambda _: clock(), lambda _: uuid(), lambda _: length()])(depth)


def cell(v):
    if v is None:
        return None
    if isinstance(v, bool):
        return str(v).lower()
    return str(v)


db = duckdb.connect()
db.execute("set timezone = 'UTC'")
cases, seen = [], set()
while len(cases) < 400:
    ours, theirs = any_expression()
    if ours in seen:
        continue
    seen.add(ours)
    # As text, so that no type of Python changes the value.
    value = db.execute(f"select cast({theirs} as varchar)").fetchone()[0]
    cases.append({"sql": ours, "value": cell(value)})
with open("literals.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")
