# SPDX-License-Identifier: Apache-2.0

"""Measures one engine on one ClickBench query, in Go's benchmark format: see run.sh. The first run of the process is
cold, the others are warm. The time is from the path of the file to the whole answer in memory; each run opens the file
again, and caches of files, footers and results between runs are off.

  duckdb            SQL on a view of read_parquet, fetched as an Arrow table
  chdb              SQL on file(), fetched as Arrow
  polars-streaming  expressions on scan_parquet, collected by the streaming engine (polars_queries.py)
  datafusion        SQL on register_parquet, collected as record batches; a new context for each run

--reference writes all right answers by DuckDB instead: the rows that share a place in the order with a row of the answer.
"""

import argparse
import datetime
import decimal
import gc
import json
import os
import sys
import time

# More rows of a group are not written to the reference.
MOST_TIES = 40


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", required=True, help="folder of the data")
    p.add_argument("--statements", required=True, help="output of cbrun statements")
    p.add_argument("--engine", choices=sorted(ENGINES))
    p.add_argument("--query", help="name of the query")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--warm", type=int, default=3, help="runs after the first one")
    p.add_argument("--answers", help="file of answers to add this one to")
    p.add_argument("--reference", help="file of references to write")
    return p.parse_args()


def main():
    # Polars reads this variable when it is imported.
    a = parse_arguments()
    os.environ["POLARS_MAX_THREADS"] = str(a.threads)
    with open(a.statements) as f:
        statements = json.load(f)
    if a.reference:
        return write_reference(a, statements)
    s = next(s for s in statements if s["name"] == a.query)
    run = ENGINES[a.engine](a.threads, os.path.join(a.dir, s["table"])).query(s)
    for i in range(1 + a.warm):
        result = None
        gc.collect()
        start = time.perf_counter_ns()
        result = run()
        taken = time.perf_counter_ns() - start
        cache = "warm" if i else "cold"
        print(f"BenchmarkClickBench/query={a.query}/cache={cache}/impl={a.engine}/threads={a.threads}\t1\t{taken} ns/op", flush=True)
        if i == 0 and a.answers:
            add_answer(a.answers, a.query, rows_of(result))


def literal(path):
    return "'" + path.replace("'", "''") + "'"


# Engines. query takes a statement and returns a function that answers it with an Arrow table, or with an object that
# rows_of converts. Imports and the engine's start come before the first run.


class DuckDB:
    def __init__(self, threads, path):
        import duckdb

        self.path = path
        self.con = duckdb.connect()
        self.con.execute(f"SET threads = {threads}")
        self.con.execute("SET preserve_insertion_order = false")
        self.con.sql("SELECT 1").to_arrow_table()

    def query(self, s):
        def run():
            self.con.execute(f"CREATE OR REPLACE TEMP VIEW t AS SELECT * FROM read_parquet({literal(self.path)})")
            return self.con.sql(s["sql"]["duckdb"]).to_arrow_table()

        return run


class ClickHouse:
    def __init__(self, threads, path):
        from chdb import session

        self.session, self.path = session.Session(), path
        self.settings = (
            f" SETTINGS max_threads = {threads}, schema_inference_use_cache_for_file = 0, use_cache_for_count_from_files = 0,"
            " use_parquet_metadata_cache = 0, schema_inference_make_columns_nullable = 'auto', session_timezone = 'UTC',"
            " output_format_arrow_compression_method = 'none', output_format_arrow_string_as_string = 0"
        )

    def query(self, s):
        import pyarrow as pa

        self.session.query("SELECT 1", "Arrow")
        text = s["sql"]["chdb"].replace(" FROM t", f" FROM file({literal(self.path)}, Parquet)", 1) + self.settings

        def run():
            memory = self.session.query(text, "Arrow").get_memview()
            return pa.ipc.open_file(memory.view()).read_all(), memory

        return run


class Polars:
    def __init__(self, threads, path):
        import polars
        import polars_queries

        self.queries, self.polars, self.path = polars_queries, polars, path
        if polars.thread_pool_size() != threads:
            raise RuntimeError("Polars ignored POLARS_MAX_THREADS")

    def query(self, s):
        q = self.queries.QUERIES[s["name"]]
        self.polars.select(1).to_arrow()
        return lambda: q(self.polars.scan_parquet(self.path), s).collect(engine="streaming")


class DataFusion:
    def __init__(self, threads, path):
        self.threads, self.path = threads, path

    def query(self, s):
        import datafusion

        datafusion.SessionContext().sql("SELECT 1").collect()

        def run():
            config = datafusion.SessionConfig().with_target_partitions(self.threads)
            config = config.set("datafusion.sql_parser.enable_ident_normalization", "false")
            config = config.set("datafusion.execution.parquet.pushdown_filters", "true")
            ctx = datafusion.SessionContext(config)
            ctx.register_parquet("t", self.path)
            return ctx.sql(s["sql"]["datafusion"]).collect()

        return run


ENGINES = {"duckdb": DuckDB, "chdb": ClickHouse, "polars-streaming": Polars, "datafusion": DataFusion}


# Answers.


def rows_of(result):
    """The rows of a result, with values that JSON has."""
    import pyarrow as pa

    if isinstance(result, list):
        result = pa.Table.from_batches(result) if result else pa.table({})
    elif isinstance(result, tuple):
        result = result[0]
    elif not isinstance(result, pa.Table):
        result = result.to_arrow()
    columns = [c.to_pylist() for c in result.columns]
    return [[plain(c[i]) for c in columns] for i in range(result.num_rows)]


def plain(v):
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(v, datetime.date):
        return v.isoformat()
    if isinstance(v, decimal.Decimal):
        return int(v) if v == int(v) else float(v)
    return v


def add_answer(path, name, rows):
    answers = {}
    if os.path.exists(path):
        with open(path) as f:
            answers = json.load(f)
    answers[name] = rows
    with open(path, "w") as f:
        json.dump(answers, f, ensure_ascii=False)


def write_reference(a, statements):
    """Writes the references by DuckDB, a query a line."""
    lines = []
    for s in statements:
        path = os.path.join(a.dir, s["table"])
        if not os.path.exists(path):
            continue
        con = DuckDB(a.threads, path).con
        con.execute(f"CREATE TEMP VIEW t AS SELECT * FROM read_parquet({literal(path)})")
        lines.append(json.dumps({"name": s["name"], "groups": groups_of(con, s)}, ensure_ascii=False))
    with open(a.reference, "w") as f:
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


def groups_of(con, s):
    """The groups of rows that share a place, from the one of the first row after OFFSET to the one of the last row."""
    place = f"rank() OVER (ORDER BY {s['order']})" if s["order"] else "1"
    columns, rest = s["base"].removeprefix("SELECT ").split(" FROM t", 1)
    ranked = f"SELECT *, {place} AS place FROM ({s['base']})" if s["grouped"] else f"SELECT {columns}, {place} AS place FROM t{rest}"
    first, last = s["offset"] + 1, s["offset"] + s["limit"] if s["limit"] else 1 << 62
    table = con.sql(
        f"WITH ranked AS MATERIALIZED ({ranked}) SELECT *, count(*) OVER (PARTITION BY place) AS ties FROM ranked"
        f" WHERE place <= {last} AND place >= (SELECT max(place) FROM ranked WHERE place <= {first})"
        f" QUALIFY row_number() OVER (PARTITION BY place) <= {MOST_TIES} ORDER BY ALL"
    )
    names = table.columns[:-2]
    ordered = [c.split()[0] for c in s["order"].split(", ") if c]
    keys = [names.index(c) for c in ordered if c in names]
    rows = rows_of(table.to_arrow_table())
    groups = []
    for place in sorted({r[-2] for r in rows}):
        same = [r for r in rows if r[-2] == place]
        ties = same[0][-1]
        take = min(last, place + ties - 1) - max(first, place) + 1
        if take > 0:  # the last place of all may end before OFFSET does
            groups.append({"take": take, "all": ties, "keys": keys, "rows": [r[:-2] for r in same]})
    return groups


if __name__ == "__main__":
    main()
