#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes SELECT statements of SQL suites with DuckDB's answers, which TestForeign compares. Needs the package duckdb.

    python3 foreign.py OUT NAME=FOLDER ... [--per-file N] [--per-suite N] [--generated N]
    go test -run TestForeign ../ -foreign OUT

A suite is a folder with files of sqllogictest (.test, .slt, .part), such as test/sql of duckdb/duckdb,
datafusion/sqllogictest of apache/datafusion, test of gregrahn/sqllogictest, tests/sqllogictests of
databendlabs/databend, e2e_test/batch of risingwavelabs/risingwave. OUT gets cases.jsonl, and the tables of the
statements as Parquet files. A statement that DuckDB refuses is left out, so are joins and functions in FROM, and
what has another value in each run. DuckDB answers from the same Parquet files, with integer_division set. --generated
adds random statements of this script."""

import argparse
import concurrent.futures
import datetime
import decimal
import json
import multiprocessing
import os
import random
import re
import sys
import threading
import zlib

import duckdb

PREPARES = re.compile(r"(?is)\s*(create|insert|update|delete|alter|drop|truncate|copy|begin|commit|rollback)\b")
FUNCTIONS = re.compile(r"(?is)\s*create\s+(or\s+replace\s+)?(temp\w*\s+)?(macro|function|sequence)\b")
SELECTS = re.compile(r"(?is)[\s(]*(select|values|with)\b")
JOINS = re.compile(r'(?is)\bjoin\b|\bfrom\s+[\w."]+(\s+(as\s+)?\w+)?\s*,|\bfrom\s+[\w.]+\s*\(|\blateral\b')
CHANGES = re.compile(r"(?i)random|uuid|nextval|currval|\bnow\b|current_|localtime|today|version|pg_|duckdb_|pragma|information_schema|"
                     r"sqlite_|getenv|rowid|ctid|setseed|\$\{|\busing\s+sample|tablesample|transaction_timestamp|statement_timestamp")
MOST_ROWS, MOST_STORED = 2000, 50_000


def blocks(path, text):
    """Yields the records of a file: the words of the head, and the lines below."""
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        lines = [line for line in block.split("\n") if not line.startswith("#")]
        skip = False
        while lines and (not lines[0].strip() or re.match(r"skipif|onlyif|hash-threshold|sleep|include", lines[0])):
            word, *rest = lines.pop(0).split() or [""]
            skip = skip or word == "onlyif" and rest[:1] not in (["duckdb"], ["postgresql"]) or word == "skipif" and rest[:1] == ["duckdb"]
            if word == "include":
                included = os.path.join(os.path.dirname(path), rest[0])
                if os.path.isfile(included):
                    yield from blocks(included, read(included))
        if lines and not skip:
            yield lines[0].split(), "\n".join(lines[1:]).split("\n----")[0].strip().rstrip(";")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def adapted(path, sql):
    """Returns a statement of another database as DuckDB has it."""
    sql = re.sub(r"(?i)arrow_cast\(([^(),]+),[^)]*\)", r"\1", sql)
    sql = re.sub(r"(?i)\b(tiny|small|big)?int unsigned\b", lambda m: f"u{m[1] or ''}int" if m[1] else "uinteger", sql)
    sql = re.sub(r"(?i)^create materialized view", "create view", sql)
    if m := re.match(r"(?is)create\s+(?:unbounded\s+)?external\s+table\s+(\w+)\s*(\(.*\))?\s*stored as csv.*location\s+'([^']*)'", sql):
        file = os.path.join(re.sub("test_files.*", "", path), m[3])
        if m[2] is None:
            return f"create table {m[1]} as from read_csv('{file}')"
        return f"create table {m[1]} {re.sub(r',[^,()]*[)]$', lambda c: ')' if c[0].strip(', )') == '' else c[0], m[2])}; copy {m[1]} from '{file}' (header)"
    if m := re.match(r"(?is)(create\s+table\s+(\w+))\s*(\(.*?\))?\s*as\s+values\s*(.*)", sql):
        if m[3]:
            return f"{m[1]}{m[3]}; insert into {m[2]} values {m[4]}"
        return f"{m[1]} as select * from (values {m[4]}) t({', '.join(f'column{i + 1}' for i in range(arity(m[4])))})"
    return sql


def arity(values):
    return len(duckdb.execute(f"select * from (values {values}) t limit 0").description)


def cell(v):
    if v is None or isinstance(v, str):
        return v
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, datetime.datetime):
        return (v.astimezone(datetime.timezone.utc).replace(tzinfo=None) if v.tzinfo else v).isoformat()
    if isinstance(v, (datetime.date, datetime.time)):
        return v.isoformat()
    return v.hex() if isinstance(v, bytes) else str(v)


def opened():
    db = duckdb.connect()
    db.execute("set threads = 1; set memory_limit = '2GB'; set integer_division = true; set timezone = 'UTC'")
    return db


def run(db, sql, most=0):
    """Runs a statement for 5 seconds at most, and returns its first rows."""
    timer = threading.Timer(5, db.interrupt)
    timer.start()
    try:
        result = db.execute(sql)
        return result.fetchmany(most) if most else []
    finally:
        timer.cancel()


class Recorder:
    """Answers statements from Parquet files of the tables of a database."""

    def __init__(self, out, suite, path, db):
        self.out, self.suite, self.db, self.answers = out, suite, db, opened()
        self.prefix, self.files, self.stored, self.cases = f"{suite}-{zlib.crc32(path.encode()):08x}", {}, 0, []

    def changed(self):
        self.files = {}

    def tables(self, sql):
        names = self.db.execute("select table_name from duckdb_tables() union select view_name from duckdb_views() where not internal").fetchall()
        used = [name for (name,) in names if re.search(rf"(?i)(?<![\w']){re.escape(name)}(?![\w'])", sql)]
        for name in used:
            if name in self.files:
                continue
            quoted, self.stored = '"' + name.replace('"', '""') + '"', self.stored + 1
            file = f"tables/{self.prefix}-{self.stored}.parquet"
            if run(self.db, f"select count(*) from {quoted}", 1)[0][0] > MOST_STORED:
                raise ValueError("a large table")
            run(self.db, f"copy (from {quoted}) to '{self.out}/{file}' (format parquet)")
            self.answers.execute(f"create or replace view {quoted} as from read_parquet('{self.out}/{file}')")
            self.files[name] = file
        return {name: self.files[name] for name in used}

    def record(self, path, sql):
        sql = adapted(path, sql)
        tables = self.tables(sql)
        rows = run(self.answers, sql, MOST_ROWS + 1)
        if len(rows) <= MOST_ROWS:
            self.cases.append({"suite": self.suite, "sql": sql, "tables": tables, "rows": [[cell(v) for v in row] for row in rows]})


def of_file(out, suite, path, most):
    """Returns the cases of a file."""
    records = list(blocks(path, read(path)))
    queries = [i for i, (head, sql) in enumerate(records) if head[0] == "query" and SELECTS.match(sql) and not JOINS.search(sql) and not CHANGES.search(sql)]
    chosen = set(random.Random(path).sample(queries, min(most, len(queries))))
    last, db = max(chosen, default=-1), opened()
    recorder = Recorder(out, suite, path, db)
    for i, (head, sql) in enumerate(records[: last + 1]):
        try:
            if head[0] == "statement" and head[1:2] != ["error"] and PREPARES.match(sql) and not FUNCTIONS.match(sql):
                recorder.changed()
                run(db, adapted(path, sql))
            elif i in chosen:
                recorder.record(path, sql)
        except Exception:  # noqa: BLE001, DuckDB refuses it
            continue
    return recorder.cases


def generated(out, count):
    """Returns random statements on a table of all types."""
    r, db = random.Random(7), opened()
    either = lambda v: v if r.random() < 0.85 else None  # noqa: E731
    db.execute("create table t (a bigint, b integer, f double, p decimal(9,2), s varchar, d date, ts timestamp, k boolean)")
    for _ in range(80):
        db.execute("insert into t values (?, ?, ?, ?, ?, ?, ?, ?)", [either(v) for v in (
            r.randint(-20, 20), r.randint(-3, 3), r.randint(-40, 40) / 8, r.randint(-999, 999) / 100, r.choice(["", "a", "Ab", "b c", "日本", "zz", "x.y"]),
            datetime.date(2024, 1, 1) + datetime.timedelta(r.randint(0, 800)), datetime.datetime(2024, 2, 28) + datetime.timedelta(minutes=r.randint(0, 999999)),
            r.random() < 0.5)])

    def value(kind, depth):
        if depth == 0:
            return r.choice({"i": ["a", "b", "3", "-1", "0"], "f": ["f", "0.5::double", "f"], "p": ["p", "1.25::decimal(9,2)"],
                             "s": ["s", "'a'", "'b c'"], "d": ["d", "date '2024-05-31'"], "b": ["k", "true"]}[kind])
        v = lambda k: value(k, depth - 1)  # noqa: E731
        return r.choice({
            "i": [f"({v('i')} {r.choice('+-*')} {v('i')})", f"abs({v('i')})", f"length({v('s')})", f"year({v('d')})", f"coalesce({v('i')}, {v('i')})",
                  f"case when {v('b')} then {v('i')} else {v('i')} end", f"nullif({v('i')}, {v('i')})", f"({v('d')} - {v('d')})",
                  f"({v('i')} / nullif({v('i')}, 0))", f"({v('i')} % nullif({v('i')}, 0))", f"sign({v('i')})::bigint"],
            "f": [f"({v('f')} {r.choice('+-*')} {v('f')})", f"round({v('f')}, 1)", f"floor({v('f')})", f"cast({v('i')} as double)", f"sqrt(abs({v('f')}))"],
            "p": [f"({v('p')} {r.choice('+-')} {v('p')})", f"round({v('p')}, 1)", f"greatest({v('p')}, {v('p')})", f"abs({v('p')})"],
            "s": [f"upper({v('s')})", f"({v('s')} || {v('s')})", f"substring({v('s')}, 1, 2)", f"replace({v('s')}, 'a', 'q')", f"cast({v('i')} as varchar)",
                  f"trim({v('s')})", f"coalesce({v('s')}, 'n')", f"least({v('s')}, {v('s')})", f"reverse({v('s')})"],
            "d": [f"({v('d')} + {r.randint(-40, 40)})", f"last_day({v('d')})", f"coalesce({v('d')}, {v('d')})", f"cast(date_trunc('month', {v('d')}) as date)"],
            "b": [f"({v('b')} and {v('b')})", f"({v('b')} or {v('b')})", f"(not {v('b')})", f"({v('i')} {r.choice(['<', '=', '<>', '>='])} {v('i')})",
                  f"({v('f')} < {v('f')})", f"({v('p')} between {v('p')} and {v('p')})", f"({v('s')} like '%a%')", f"({v('i')} in ({v('i')}, 2, {v('i')}))",
                  f"({v('d')} is null)", f"({v('s')} is distinct from {v('s')})", f"({v('p')} = {v('p')})", f"({v('d')} > {v('d')})"],
        }[kind])

    def statement():
        e = lambda: value(r.choice("iiffpssdb"), r.randint(0, 2))  # noqa: E731
        where = f" where {value('b', 2)}" if r.random() < 0.6 else ""
        aggregate = lambda: r.choice([  # noqa: E731
            "count(*)", f"count({e()})", f"sum({value(r.choice('ifp'), 1)})", f"min({e()})", f"max({e()})", f"avg({value(r.choice('if'), 1)})",
            f"count(distinct {e()})", f"bool_and({value('b', 1)})", f"stddev({value('f', 1)})", f"sum({value('i', 1)}) filter (where {value('b', 1)})",
            f"string_agg({value('s', 1)}, ',' order by s, a, f, d, ts)", f"count(*) filter (where {value('b', 1)})"])
        key = e()
        return r.choice([
            lambda: f"select {e()} as x, {e()} as y from t{where} order by x, y", lambda: f"select {aggregate()}, {aggregate()} from t{where}",
            lambda: f"select {key} as x, {aggregate()} as y, {aggregate()} from t{where} group by {key} order by x",
            lambda: f"select {key} as x, {aggregate()} as y from t group by 1 having count(*) > {r.randint(0, 4)} order by y, x",
            lambda: f"select distinct {e()} as x, {e()} as y from t{where}", lambda: f"select * from t{where} order by {e()}, a, b, f, s, d, ts limit 7 offset 2",
            lambda: f"select x, count(*) from (select {e()} as x from t{where}) q group by x order by 2 desc, 1 limit 5",
            lambda: f"with q as (select a, {value('i', 2)} as x from t{where}) select sum(x), max(a) from q where x > -5",
            lambda: f"select {value('i', 1)} as x from t {r.choice(['union', 'union all', 'except', 'intersect'])} select {value('i', 1)} from t order by x",
        ])()

    recorder = Recorder(out, "generated", "generated", db)
    while len(recorder.cases) < count:
        try:
            recorder.record("", statement())
        except duckdb.Error:
            continue
    return recorder.cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("suites", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--per-file", type=int, default=60)
    parser.add_argument("--per-suite", type=int, default=3000)
    parser.add_argument("--generated", type=int, default=0)
    args = parser.parse_args()
    out, seen = os.path.abspath(args.out), set()
    os.makedirs(out + "/tables", exist_ok=True)
    context = multiprocessing.get_context("spawn")  # a fork has no threads of DuckDB
    with open(out + "/cases.jsonl", "w", encoding="utf-8") as cases, concurrent.futures.ProcessPoolExecutor(mp_context=context) as pool:

        def write(suite, found, most):
            for case in found:
                if case["sql"] not in seen and most > 0:
                    seen.add(case["sql"])
                    cases.write(json.dumps(case, ensure_ascii=False) + "\n")
                    most -= 1
            return most

        write("generated", pool.submit(generated, out, args.generated).result(), args.generated)
        for name, folder in (suite.split("=", 1) for suite in args.suites):
            files = sorted(os.path.abspath(os.path.join(f, n)) for f, _, names in os.walk(folder) for n in names if n.endswith((".test", ".slt", ".part")))
            random.Random(3).shuffle(files)
            most = args.per_suite
            while files and most > 0:
                some, files = files[:24], files[24:]
                for found in pool.map(of_file, [out] * len(some), [name] * len(some), some, [args.per_file] * len(some)):
                    most = write(name, found, most)
            print(name, args.per_suite - most, file=sys.stderr)


if __name__ == "__main__":
    main()
