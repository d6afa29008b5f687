#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes decimals.json and statements.json: expressions of decimals, and statements, with DuckDB's answers. Needs the
package duckdb. What DuckDB refuses when it runs, and is an error here too, has the value "error"."""

import json
import random

import answers
import duckdb

r = random.Random(5)
db = duckdb.connect()


def amount(digits=None):
    digits = digits or r.choice([1, 2, 4, 9, 17, 18, 19, 28, 38])
    scale = r.choice([0, 1, 2, min(4, digits), digits // 2, digits])
    unscaled = r.choice([r.randrange(10**digits), 10**digits - 1, 0, 1, r.randrange(1, 1000) % 10**digits])
    text = f"{unscaled:0{scale + 1}}"
    text = text[: len(text) - scale] + ("." + text[len(text) - scale :] if scale else "")
    return f"'{r.choice(['', '', '-'])}{text}'::decimal({digits},{min(scale, digits)})"


def number(depth):
    if depth == 0 or r.random() < 0.2:
        return r.choice([
            amount, amount, amount, lambda: f"cast({r.choice(['3', '-7', '100', '9000000000', 'null'])} as bigint)",
            lambda: f"cast({r.choice(['5', '-1', '127'])} as tinyint)", lambda: "cast(null as decimal(9,2))",
        ])()
    a, b = number(depth - 1), number(depth - 1)
    few = lambda: amount(r.choice([1, 4, 9, 17]))  # noqa: E731, DuckDB drops digits that have no common type
    return r.choice([
        lambda: f"({a} + {b})", lambda: f"({a} - {b})", lambda: f"({a} * {b})", lambda: f"({a} % {b})", lambda: f"(-{a})",
        lambda: f"abs({a})", lambda: f"floor({a})", lambda: f"ceil({a})", lambda: f"round({a})", lambda: f"trunc({a})",
        lambda: f"cast({a} as decimal({r.choice(['9,2', '18,0', '18,6', '38,4', '38,20', '4,1'])}))",
        lambda: f"coalesce(cast(null as decimal(9,2)), {few()}, {few()})", lambda: f"greatest({few()}, {few()}, null)", lambda: f"least({few()}, {few()})",
        lambda: f"case when {few()} < {few()} then {few()} else {few()} end", lambda: f"nullif({few()}, {few()})",
    ])()


def expression():
    a, b = number(r.randint(0, 2)), number(r.randint(0, 2))
    return r.choice([
        lambda: f"({a})::varchar", lambda: f"({a})::varchar", lambda: f"typeof({a})", lambda: f"{a} {r.choice(['=', '<', '<=', '<>'])} {b}",
        lambda: f"{a} between {b} and {amount()}", lambda: f"{a} in ({b}, {amount()}, {a})", lambda: f"({a})::bigint", lambda: f"({a})::double",
        lambda: f"try_cast({a} as decimal(4,2))", lambda: f"({a}) is not distinct from ({b})",
        lambda: f"round({amount()}, {r.choice(['0', '1', '2', '5', '40', '-1'])})::varchar",
        lambda: f"{r.choice(['1.005', '2.5', '-0.045', '12345678901234567890.125'])}::decimal(38,{r.randint(0, 6)})",
    ])()


def differs(text):
    """Integers are computed in int64 here."""
    return "tinyint" in text and ("typeof" in text or text.count("tinyint") > 1)


cases, seen = [], set()
while len(cases) < 700:
    text = expression()
    if text in seen or differs(text) or len(text) > 300:
        continue
    seen.add(text)
    try:
        value = db.execute(f"select cast({text} as varchar)").fetchone()[0]
    except (duckdb.OutOfRangeException, duckdb.InvalidInputException, duckdb.ConversionException):
        if any(word in text for word in (" between ", " in (", "=", "<", "distinct", "nullif")):
            continue  # numbers of any digits compare here
        value = "error"
    except duckdb.BinderException:
        continue
    if value is None and "%" in text or value is None and "as decimal" in text.replace("null as decimal", ""):
        continue  # DuckDB does not evaluate an operand beside NULL
    if value and value.lstrip("-").startswith("."):  # of as many digits as the scale
        value = value.replace(".", "0.", 1)
    cases.append({"sql": text, "value": value})
with open("decimals.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")

T = """(values (1, 'a', 1.50::decimal(9,2), 10), (2, 'b', 2.25::decimal(9,2), null), (3, 'a', null, 30), (4, null, -0.75::decimal(9,2), 40),
 (5, 'c', 99.99::decimal(9,2), 10), (6, 'b', 0.01::decimal(9,2), 20)) t(id, s, p, n)"""
BIG = "(values ('9999999999999999.99'::decimal(18,2)), ('9999999999999999.99'::decimal(18,2)), (null)) t(x)"
WIDE = "(values (1, '12345678901234567890.125'::decimal(30,3)), (1, '0.875'::decimal(30,3)), (2, '-5'::decimal(30,3))) t(k, x)"
STATEMENTS = [
    f"select string_agg(s) from {T} where id < 3", f"select string_agg(s, '-' order by id desc) from {T}",
    f"select string_agg(s, '' order by n nulls first, id) from {T}", f"select n, string_agg(s, '+' order by id) from {T} group by n order by n",
    f"select string_agg(distinct s, ',' order by s) from {T}", f"select string_agg(s, ',' order by id) filter (where id > 2) from {T}",
    f"select group_concat(id, '/' order by id) from {T}", f"select listagg(s, '|' order by p desc) from {T}",
    f"select string_agg(s, ',') from {T} where id > 100", f"select first(s order by id desc), last(s order by id desc) from {T} where s is not null",
    f"select any_value(s order by id desc) from {T}", f"select bool_and(id > 0), bool_or(id > 5), bool_and(n > 10) from {T}",
    f"select count_if(id > 2), quantile_cont(id, 0.5), arg_min(s, id), max_by(s, id) from {T}",
    f"select sum(p), avg(p), min(p), max(p), count(p) from {T}", f"select s, sum(p), min(p) from {T} group by s order by s",
    f"select sum(p * n), sum(p + 1), max(-p), sum(distinct p) from {T}", f"select typeof(sum(p)), typeof(avg(p)) from {T}",
    f"select sum(x), avg(x), min(x) from {BIG}", f"select sum(x) * 2, sum(x) + 0.01 from {BIG}",
    f"select k, sum(x), max(x), avg(x) from {WIDE} group by k order by k", f"select count(distinct x), stddev(x), median(k) from {WIDE}",
    f"select x from {WIDE} order by x desc", f"select x, count(*) from {WIDE} group by x order by x", f"select distinct k from {WIDE} order by 1",
    f"select p from {T} where p > 1.5 order by p", f"select p from {T} where p in (1.5, 0.01, 7) order by p", f"select id from {T} where p = 2.25",
    f"select id from {T} where p between 0 and 2.25 order by id", f"select id, p * 1.1 from {T} order by p nulls first, id limit 3",
    f"select s from {T} union select s from {T} order by s", "select 1 as a union all select 2 union all select 1 order by a",
    "select 1 as a union select 1", "select 1 as a, 'x' as b union all select 2, cast(null as varchar) order by 1",
    f"select s from {T} except select s from {T} where id = 1 order by s", f"select n from {T} intersect select 10 order by n",
    f"select n from {T} where id < 4 intersect select n from {T} where id > 2 order by n", "(select 3 as v) union all (select 1 order by 1 limit 1) order by v",
    "select 1 as a union all select 2.5::double order by a", "select 1::smallint as a union all select 100000 order by a",
    "select 1.5::decimal(3,1) as a union all select 2.25::decimal(9,2) order by a", "select 1 union select 2 except select 1",
    "select 1 as a union select 2 intersect select 3 order by a", "select * from (select 1 as a union all select 2) u order by a desc",
    "values (1, 'a'), (2, null) order by 1 desc", "values (1), (2.5::double) order by 1", "select * from (values (2), (1)) t order by col0",
    f"select t.id, t.s from {T} order by t.id limit 2 offset 1", "select a + 1 from (select 41 as a) x", "select sum(y) from (values (1), (2), (3)) v(y)",
    f"select s, c from (select s, count(*) as c from {T} group by s) q where c > 1 order by s",
    f"select max(c) from (select count(*) as c from {T} group by s) q", "with x as (select 1 as a) select a from x",
    "with x(v) as (select 1 union all select 2), y as (select v * 10 as w from x) select w from y order by w desc",
    f"with big as (select * from {T} where id > 3) select count(*) from big union all select sum(id) from big order by 1",
    f"select s, n, count(*) from {T} group by all order by all", f"select s, sum(id) from {T} group by all order by s desc nulls first",
    f"select id from {T} order by all desc limit 2", f"select id from {T} order by id limit 1 + 1", f"select id from {T} order by id limit all offset 4",
    f"select id from {T} order by id limit null offset 5", f"select id from {T} order by id offset 4 rows", f"select id from {T} order by -id fetch first 2 rows only",
    f"select id from {T} order by id % 2, id desc", f"select count(*) from {T} having count(*) > 5", f"select sum(id) from {T} having sum(id) < 0",
    f"select id from {T} where id in (1 + 1, n / 10, 5) order by id", f"select id from {T} where s isnull or n notnull order by id",
    f"select id from {T} where id == 2", "select 7 // 2, 2 ** 3, 2 ^ 3 ^ 2, -2 ** 2", f'select "id" as "the id" from {T} where "s" = \'b\' order by "the id"',
    f"select case when p > 1 then p else 0 end from {T} order by id",
    "select 18446744073709551616, -18446744073709551616", "select 1.5::decimal(2,1) + null", f"select sum(case when s = 'a' then p else 0 end) from {T}",
]
answers.write("statements.json", STATEMENTS, db)
