#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes clauses.json: statements with DuckDB's rows, in the form of statements.json. Needs the package duckdb."""

import answers
import duckdb

T = """(values (1, 'a', 1.5::double, 10), (2, 'b', 2.25::double, null), (3, 'a', null, 30), (4, null, -0.75::double, 40), (5, 'c', 99.5::double, 10),
 (6, 'b', 0.5::double, 20), (7, 'a%', 3::double, 10)) t(id, s, x, n)"""
NONE = "(values (1, cast(null as double), 2.0::double)) t(id, x, n)"
SAME = "(values (1, 5::double, 2::double), (2, 5::double, 3::double), (3, null, 9::double)) t(id, x, n)"
PAIRS = ["corr", "covar_pop", "covar_samp", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_sxy", "regr_syy", "regr_slope", "regr_intercept", "regr_r2"]

STATEMENTS = [
    f"select * exclude (id) from {T} order by x", f"select * exclude s from {T} order by id", f"select t.* exclude (X, n) from {T} order by id",
    f"select * replace (id * 2 as id) from {T} order by id", f"select * exclude (s, x) replace (coalesce(n, 0) as n) from {T} order by id",
    f"select * replace (n as id, id as n) from {T} order by s, x", f"select *, id + 1 as next from {T} order by id",
    f"select distinct * exclude (id, x, n) from {T} order by s", f"select * exclude (id) from (select * exclude (s) from {T}) q order by x, n",
    f"select distinct on (s) s, id, n from {T} order by s, id desc", f"select distinct on (s) * from {T} order by s nulls first, x",
    f"select distinct on (n, s) n, s, id from {T} order by n, s, id", f"select distinct on (1) n, id from {T} order by 1 desc nulls first, id",
    f"select distinct on (id % 2) id + 1 as next, s from {T} order by id % 2, x desc limit 1", f"select distinct on (s) n from {T} order by s, n nulls first",
    f"select distinct on (m) id % 3 as m, x as s from {T} order by m, n desc, id", f"select count(*) from (select distinct on (s) id from {T}) q",
    f"select distinct on (s) n, n + 1 as n from {T} order by s, id offset 1",
    f"select percentile_cont(0.5) within group (order by id) from {T}", f"select percentile_cont(0.25) within group (order by x desc) from {T}",
    f"select s, percentile_cont(0.9) within group (order by id) as p from {T} group by s order by s",
    f"select percentile_cont(0.5) within group (order by id) filter (where id > 3) from {T}",
    *[f"select {f}(x, n), {f}(n, x) from {T}" for f in PAIRS], *[f"select {f}(x, n) from {NONE}" for f in PAIRS],
    *[f"select {f}(x, n), {f}(n, x) from {SAME}" for f in PAIRS[1:] if f != "regr_slope"],
    f"select s, covar_samp(x, id) from {T} group by s order by s", f"select s, regr_sxy(x, id) as r from {T} group by s order by s",
    f"select all + id from {T} order by 1", f"select all * from {T} order by id", f"select all - id as a, sum(all + n) from {T} group by id order by a",
    f"select all not (id > 3) as a, count(all - id) from {T} group by a order by a", "select typeof(time '10:00:00')",
    "select null", "select null as a, 1 as b", "select count(null), max(null), sum(null), min(null)", "select coalesce(null, null)", "select case when true then null end",
    f"select id, null as a from {T} order by id", "select null union select 1 order by 1", "select 1 union all select null order by 1",
    f"select count(*) from {T} where null is null", f"select count(*) from {T} where null = null", f"select count(*) from {T} where not (null <> n)",
    "values (null), (1)", "values (null), ('a')", "select * from (values (null)) t(a) where a is null",
    f"select id from {T} where s like s order by id", f"select id from {T} where s like substring(s, 1, 1) || '%' order by id",
    f"select id from {T} where 'ab' like s order by id", f"select id from {T} where s not ilike upper(s) order by id", f"select id from {T} where s like null",
    "select 1_000, 1_000.5::double, 1_0e1_0", "select bigint '12' + 1, double '1.5', varchar 'a', boolean 'true'", "select smallint '-3' as a",
    f"select trim(leading 'a' from s) from {T} order by id", f"select substring(s from 1 for 1) as c, count(*) from {T} group by c order by c",
    f"select log(2, id), mod(id, 3), gcd(id, 6), lcm(id, 4) from {T} order by id", f"select repeat(s, id), translate(s, 'ab', 'x') from {T} order by id",
    f"select isnan(x), isfinite(x), isinf(x) from {T} order by id", f"select id from {T} where make_date(2024, id, 1) > date '2024-05-01' order by id",
    f"select sin(id) * sin(id) + cos(id) * cos(id) from {T}", f"select bit_length(s), md5(s) from {T} order by id",
]
answers.write("clauses.json", STATEMENTS, duckdb.connect())
