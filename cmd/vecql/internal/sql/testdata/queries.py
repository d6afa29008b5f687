#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes queries.json: statements with subqueries, grouping sets, lists and several columns of *, with DuckDB's answers.
Needs the package duckdb."""

import answers
import duckdb

db = duckdb.connect()
T = """(values (1, 'a', 1.50::decimal(9,2), 10), (2, 'b', 2.25::decimal(9,2), null), (3, 'a', null, 30), (4, null, -0.75::decimal(9,2), 40),
 (5, 'c', 99.99::decimal(9,2), 10), (6, 'b', 0.01::decimal(9,2), 20)) t(id, s, p, n)"""
NONE = "(select * from (values (1, 'a')) u(a, b) where a > 1)"
D = "(values (date '2026-07-01', timestamp '2026-07-01 12:30:00', true), (date '2026-07-02', null, false)) d(d, ts, k)"
G = "grouping(s), s"
QUERIES = [
    # the values of subqueries
    f"select (select max(id) from {T})", f"select id, (select count(*) from {T}) as c from {T} where id < 3 order by id",
    f"select (select s from {T} where id > 100), 1", f"select id from {T} where n = (select max(n) from {T})",
    f"select id from {T} where n = (select min(n) from {T}) order by id", f"select id from {T} where p > (select avg(p) from {T}) order by id",
    f"select id from {T} where p = (select max(p) from {T})", f"select id from {T} where p <= (select 2.25::double) order by id",
    f"select id from {T} where s = (select min(s) from {T}) order by id", f"select id from {T} where id >= (select 4.5::decimal(3,1)) order by id",
    "select (select 1) + (select 2)", f"select coalesce((select n from {T} where id = 2), -1)", f"select id * (select 10) + (select min(id) from {T}) from {T} order by id",
    f"select typeof((select max(p) from {T})), typeof((select 1::tinyint)), typeof((select date '2026-01-01')), typeof((select 'x'))",
    "select (select date '2026-07-01') + 1, (select true) and (select null::boolean)", f"select d from {D} where d = (select max(d) from {D})",
    f"select d from {D} where ts = (select max(ts) from {D})", f"select d from {D} where k = (select bool_or(k) from {D})",
    f"select case when (select count(*) from {T}) > 5 then 'many' else 'few' end", f"select id from {T} where n between (select 15) and (select 35) order by id",
    f"select max(id) - (select min(id) from {T}) from {T}", f"select sum(id) * 100 // (select sum(id) from {T}) from {T} where s = 'a'",
    f"select s, count(*) * 10 + (select 1) from {T} group by s order by s nulls first", f"select sum(id * (select 2)), avg(p + (select 1)) from {T}",
    f"select id from {T} order by (select 1), id desc", f"select s || (select '-x') from {T} where s like (select 'b%')",
    f"select id % (select 2) as r, count(*) from {T} group by r order by r", f"select s, sum(n) from {T} group by s having sum(n) > (select avg(n) from {T}) order by s",
    f"select (select (select (select max(n) from {T})))", f"select (select count(*) from {T} where id > (select avg(id) from {T}))",
    f"select (values (7))", "select (with x as (select 3 as a) select a + 1 from x)", f"with x as (select * from {T}) select id from x where id = (select max(id) from x)",
    f"select (select id from {T} order by n desc nulls last, id limit 1)", f"select (select id from {T} order by id limit 1 offset 2)",
    "select (select 1 union select 1)", f"select min(id) from {T} where (select false)", f"select count(*) from {T} where (select true)",
    f"select id from (select * from {T} where n = (select max(n) from {T})) q", f"select id from {T} where id = (select 1) union all select (select 9) order by 1",
    # members of subqueries
    f"select id from {T} where s in (select s from {T} where id in (1, 2)) order by id", f"select id from {T} where s not in (select s from {T})",
    f"select id from {T} where s not in (select s from {T} where s is not null and id > 4) order by id", f"select id from {T} where n in (select n from {T} where id > 100)",
    f"select id from {T} where n not in (select n from {T} where id > 100) order by id", f"select id, n in (select n from {T} where id > 100) from {T} order by id",
    f"select id, n in (select n from {T} where id < 3) from {T} order by id", f"select id, n not in (select n from {T} where id < 3) from {T} order by id",
    f"select id, n in (select n from {T} where n > 15) from {T} order by id", f"select id, n not in (select n from {T} where n > 15) from {T} order by id",
    f"select null in (select n from {T}), null in (select a from {NONE}), 1 in (select null::int), 10 in (select n from {T})",
    f"select id from {T} where id in (select 2.0::double union all select 2.5) order by id", f"select id from {T} where p in (select 2.250::decimal(9,3) union all select 1.5) order by id",
    f"select id from {T} where id::tinyint in (select 3::bigint) or id in (select 300)", f"select id from {T} where id + 1 in (select id from {T} where n > 10) order by id",
    f"select id from {T} where (id in (select id from {T} where n = 10)) is not true order by id", f"select id from {T} where id in (values (1), (3), (9)) order by id",
    f"select id from {T} where id in (select 1 union select 3 except select 1)", f"select id from {T} where id in (select max(id) from {T} group by s) order by id",
    f"select s from {T} group by s having s in (select s from {T} where id < 3) order by s", f"select s, sum(id) from {T} group by s having sum(id) in (select 5) order by s",
    f"select count(*) filter (where id in (select id from {T} where s = 'a')) from {T}", f"select id in (select 1) as one, count(*) from {T} group by one order by one",
    f"with x(v) as (select 1 union all select 5) select id from {T} where id in (select v from x) and id not in (select min(v) from x)",
    f"select id from {T} where id in (select id from {T} where n in (select n from {T} where s = 'c')) order by id",
    f"select d from {D} where d in (select d from {D} where k)", f"select d from {D} where ts in (select ts from {D})", f"select d from {D} where k in (select false)",
    f"select id from {T} where cast(id as double) in (select id from {T} where id > 4) order by id", f"select id from {T} where s in (select 'a' union select null::varchar) order by id",
    f"select id from {T} where case when id > 3 then n in (select 40) else s in (select 'b') end order by id",
    f"select id from {T} order by id in (select 3), id limit 2 offset 4", f"select distinct s in (select 'a') from {T} order by 1",
    # whether there are rows
    f"select exists (select * from {T}), exists (select 1 from {T} where id > 100), not exists (select a, b from {NONE})",
    f"select id from {T} where exists (select 1 from {T} where id = 6) order by id limit 1", f"select count(*) from {T} where not exists (select 1)",
    f"select exists (values (null::int))", f"select exists (select 1 from {T} limit 0), exists (select count(*) from {NONE})", "select exists (select 1) and exists(select 2)",
    # grouping sets
    f"select {G}, count(*), sum(id) from {T} group by rollup(s) order by all", f"select {G}, grouping(n), n, count(*) from {T} group by rollup(s, n) order by all",
    f"select {G}, grouping(n), n, grouping(s, n), grouping(n, s) from {T} group by cube(s, n) order by all",
    f"select {G}, grouping(n), n, count(*) from {T} group by grouping sets ((s, n), (n), ()) order by all",
    f"select {G}, n, count(*) from {T} group by n, rollup(s) order by all", f"select {G}, grouping(n), n, max(id) from {T} group by rollup((s, n), id) order by all",
    f"select {G}, sum(id) from {T} group by grouping sets (s, ()) having sum(id) > 3 order by all", f"select {G}, sum(id) from {T} group by rollup(s) having grouping(s) = 1",
    f"select grouping(id % 2), id % 2, count(*) from {T} group by rollup(id % 2) order by all", f"select count(*), s from {T} where id > 100 group by rollup(s)",
    f"select count(*) from {T} where id > 100 group by cube(s, n)", f"select s, count(*) from {T} where id > 100 group by s, rollup(n)",
    f"select {G}, count(distinct n), sum(distinct n) from {T} group by rollup(s) order by all", f"select {G}, string_agg(id, '-' order by id desc) from {T} group by rollup(s) order by all",
    f"select grouping(p), p, count(*) from {T} group by rollup(p) order by all", f"select grouping(d), d, grouping(k), k, count(ts) from {D} group by cube(d, k) order by all",
    f"select distinct grouping(s) from {T} group by rollup(s) order by 1", f"select s, sum(id) as total from {T} group by rollup(s) order by total desc, s limit 2",
    f"select coalesce(s, 'all') as k, min(n) from {T} where s is not null group by rollup(s) order by k", f"select {G}, grouping(n), n from {T} group by grouping sets (rollup(s, n), cube(n)) order by all",
    f"select count(*) from {T} group by grouping sets ((), ())", f"select s from {T} group by grouping sets ((s), (s, n)) order by s", f"select {G}, avg(p), median(id) from {T} group by rollup(s) order by all",
    f"select grouping(s), s from {T} group by s order by s", f"select sum(c) from (select count(*) as c from {T} group by cube(s, n)) q",
    f"select {G}, sum(id) from {T} group by rollup(s) having sum(id) in (select 4 union select 21) order by all", f"select lower(s) as l, grouping(lower(s)), count(*) from {T} group by rollup(lower(s)) order by all",
    # lists and values that are frequent
    f"select mode(s), mode(n), mode(p) from {T} where id <> 2", f"select s, mode(n) from {T} group by s order by s", f"select mode(s) from {T} where id > 100",
    f"select quantile_disc(n, 0.5), quantile_disc(id, 0.25), quantile_disc(s, 0.5), quantile_disc(p, 1), quantile_disc(p, 0), quantile_disc(id, 0.9) from {T}",
    f"select s, quantile_disc(id, 0.5) from {T} group by s order by s", f"select quantile_disc(d, 0.5), quantile_disc(k, 0.5), mode(d) from {D}",
    f"select array_agg(id order by id desc) from {T}", f"select s, list(id order by id) from {T} group by s order by s", f"select array_agg(id) from {T} where id > 100",
    f"select array_agg(id order by n desc nulls last, id), string_agg(s, '' order by n desc nulls last, id) from {T}",
    # several columns
    f"select * exclude (p) from {T} order by id", f"select * exclude p from {T} order by id limit 1", f"select t.* exclude (p, id) from {T} order by id",
    f"select * replace (n + 1 as n) from {T} order by id", f"select * exclude (p) replace (id * 2 as id, upper(s) as s) from {T} order by id", f"select * replace n * 2 as n from {T} order by id",
    f"select columns('^[in]') from {T} order by id", f"select columns(*) from {T} order by id", f"select columns('d'), 1 from {T} order by 1", f"select * replace ((select 5) as p) from {T} order by id",
    f"select mode(s order by id) from {T}", f"select mode(s order by id desc), max(n) from {T}", f"select n, mode(id order by p desc nulls last) from {T} group by n order by n",
    f"from {T} order by id", f"from {T} select id where id < 3 order by id", f"from {T} where n > 20 order by id", f"select (from {T} select max(id))", f"from (from {T} select id limit 0)",
    f"from {T} select s, count(*) group by s order by s", f"select id from {T} where id in (from {T} select id where n = 10) order by id",
]
answers.write("queries.json", QUERIES, db)
