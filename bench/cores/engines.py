# SPDX-License-Identifier: Apache-2.0

"""Measures DuckDB and Polars on the cases of command cores, in Go's benchmark format: see run.sh. It needs no pyarrow.

Groupings begin with a table in the engine's memory and end with the result there: a temporary table of DuckDB, a
DataFrame of Polars. Queries of ClickBench begin with the path of the file and end with the rows, as in
../clickbench/peers.py. The least time of the repetitions is printed; they end as those of command cores do.

  duckdb   SQL, by one connection with SET threads
  polars   the streaming engine; POLARS_MAX_THREADS
"""

import argparse
import gc
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLICKBENCH = next(d for d in (os.path.join(HERE, "clickbench"), os.path.join(HERE, "..", "clickbench")) if os.path.isdir(d))
sys.path.insert(0, CLICKBENCH)

# As in measure.go.
MOST_TIME, LEAST_TIME, LEAST_RUNS, ENOUGH = 1.0, 0.25, 2, 3


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", required=True, help="folder of the data")
    p.add_argument("--statements", required=True, help="output of cores statements")
    p.add_argument("--engine", choices=sorted(ENGINES), required=True)
    p.add_argument("--threads", type=int, required=True)
    p.add_argument("--seconds", type=float, default=480, help="no measurement begins later")
    p.add_argument("--answers", help="file of answers to write")
    return p.parse_args()


def main():
    start = time.monotonic()
    a = parse_arguments()
    os.environ["POLARS_MAX_THREADS"] = str(a.threads)  # read when Polars is imported
    with open(a.statements) as f:
        statements = json.load(f)
    engine, answers = None, {}
    for s in statements:
        name = f"case={s['case']}/impl={a.engine}/threads={a.threads}"
        if time.monotonic() - start >= a.seconds:
            print(f"left-out: {name}", flush=True)
            continue
        engine = engine or ENGINES[a.engine](a.threads, a.dir)
        run, rows = engine.query(s["query"]) if "query" in s else engine.grouping(s["key"])
        runs, least, result = measure(run)
        answers[s["case"]] = [[plain(v) for v in row] for row in rows(result)]
        print(f"BenchmarkCores/{name}\t{runs}\t{least} ns/op", flush=True)
    if a.answers:
        with open(a.answers, "w") as f:
            json.dump(answers, f, ensure_ascii=False)


def measure(run):
    """The number of runs, the least time in ns, and the last result."""
    times, result = [], None
    while not done(len(times), sum(times) / 1e9):
        result = None
        gc.collect()
        start = time.perf_counter_ns()
        result = run()
        times.append(time.perf_counter_ns() - start)
    return len(times), min(times), result


def done(runs, taken):
    return runs >= LEAST_RUNS and (taken >= MOST_TIME or runs >= ENOUGH and taken >= LEAST_TIME)


def plain(v):
    from peers import plain  # of ../clickbench

    return plain(v)


# Engines. Both verbs return a function that runs the case, and a function that returns the rows of its result. The rows
# of a grouping are its digest, as in tables.go.


class DuckDB:
    def __init__(self, threads, folder):
        import duckdb

        self.folder, self.loaded = folder, False
        self.con = duckdb.connect()
        self.con.execute(f"SET threads = {threads}")
        self.con.execute("SET preserve_insertion_order = false")

    def path(self, *names):
        return "'" + os.path.join(self.folder, *names).replace("'", "''") + "'"

    def grouping(self, key):
        if not self.loaded:
            self.con.execute(f"CREATE TABLE memory.main.grouped AS SELECT * FROM read_parquet({self.path('t.parquet')})")
            self.loaded = True
        text = f'CREATE OR REPLACE TEMP TABLE result AS SELECT "{key}" AS k, count(*) AS c, sum("value")::BIGINT AS s FROM grouped GROUP BY k'
        keys = "sum(strlen(k))" if key == "text" else "sum(k)"
        digest = f"SELECT count(*), {keys}, sum(c), sum(s), sum(c * c) FROM result"
        return lambda: self.con.execute(text), lambda _: self.con.execute(digest).fetchall()

    def query(self, s):
        view = f"CREATE OR REPLACE TEMP VIEW t AS SELECT * FROM read_parquet({self.path('hits', s['table'])})"

        def run():
            self.con.execute(view)
            return self.con.execute(s["sql"]["duckdb"]).fetchall()

        return run, lambda rows: rows


class Polars:
    def __init__(self, threads, folder):
        import polars
        import polars_queries

        self.pl, self.queries, self.folder, self.frame = polars, polars_queries.QUERIES, folder, None
        if polars.thread_pool_size() != threads:
            raise RuntimeError("Polars ignored POLARS_MAX_THREADS")

    def grouping(self, key):
        pl = self.pl
        if self.frame is None:
            self.frame = pl.read_parquet(os.path.join(self.folder, "t.parquet"))
        aggregates = [pl.len().alias("c"), pl.col("value").sum().alias("s")]

        def rows(result):
            keys = pl.col(key).str.len_bytes() if key == "text" else pl.col(key)
            c = pl.col("c").cast(pl.Int64)
            return result.select(pl.len(), keys.cast(pl.Int64).sum().alias("k"), c.sum().alias("n"), pl.col("s").sum(),
                                 (c * c).sum().alias("q")).rows()

        return lambda: self.frame.lazy().group_by(key).agg(aggregates).collect(engine="streaming"), rows

    def query(self, s):
        q, path = self.queries[s["name"]], os.path.join(self.folder, "hits", s["table"])
        return lambda: q(self.pl.scan_parquet(path), s).collect(engine="streaming"), lambda frame: frame.rows()


ENGINES = {"duckdb": DuckDB, "polars": Polars}


if __name__ == "__main__":
    main()
