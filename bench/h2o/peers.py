# SPDX-License-Identifier: Apache-2.0

"""Measures one engine on the questions of the group-by benchmark of h2o.ai, in Go's benchmark format: see run.sh.

From the source memory the table is in the memory of the engine before the clock starts, and from the source file the clock
runs from the path of the Parquet file. It ends with the whole answer in memory:

  duckdb            SQL on a table, or on a view of read_parquet, fetched as an Arrow table
  chdb              SQL on a table of the Memory engine, or on file(), fetched as Arrow
  polars-streaming  expressions on a DataFrame, or on scan_parquet, collected by the streaming engine
  polars            the same, collected by the in-memory engine
  datafusion        SQL on record batches of 8192 rows, one partition per thread, or on register_parquet, collected as batches

The engines on files are those of ../clickbench/peers.py, the tables in memory those of ../groupby/peers.py.
"""

import argparse
import gc
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from clickbench import peers as files  # noqa: E402
from groupby import peers as tables  # noqa: E402

TABLE = "t.parquet"


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", required=True, help="folder of the table")
    p.add_argument("--case", required=True, help="name of the case")
    p.add_argument("--statements", required=True, help="output of h2orun statements")
    p.add_argument("--engine", required=True, choices=sorted(ENGINES))
    p.add_argument("--source", choices=["memory", "file"], default="memory")
    p.add_argument("--questions", default="", help="names of questions (default all)")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--runs", type=int, default=2, help="runs of each question")
    p.add_argument("--answers", help="file of answers to add the summaries to")
    return p.parse_args()


def main():
    # Engines read these variables when they are imported.
    a = parse_arguments()
    os.environ.update(tables.limits(a.threads))
    with open(a.statements) as f:
        statements = json.load(f)
    engine = ENGINES[a.engine][a.source == "file"](a.threads, os.path.join(a.dir, TABLE))
    failed = False
    for s in statements:
        if a.questions and s["name"] not in a.questions.split():
            continue
        try:
            measure(a, engine, s)
        except Exception as e:  # the other questions are measured
            print(f"{a.engine}: {a.case} {a.source} {s['name']}: {e}", file=sys.stderr)
            failed = True
    sys.exit(1 if failed else 0)


def measure(a, engine, s):
    run = engine.query(s)
    name = f"BenchmarkH2O/case={a.case}/source={a.source}/question={s['name']}/impl={a.engine}/threads={a.threads}"
    for i in range(a.runs):
        result = None
        gc.collect()
        start = time.perf_counter_ns()
        result = run()
        taken = time.perf_counter_ns() - start
        print(f"{name}\t1\t{taken} ns/op", flush=True)
        if i == 0 and a.answers:
            add_answer(a.answers, f"{a.case} {a.source} {s['name']}", summarize(table_of(result), s["keys"]))


# Tables in memory.


class DuckDB(tables.DuckDB):
    def __init__(self, threads, path):
        super().__init__(threads)
        self.load(read(path))

    def query(self, s):
        return lambda: self.con.sql(s["sql"]["duckdb"]).to_arrow_table()


class ClickHouse(files.ClickHouse):
    def __init__(self, threads, path):
        super().__init__(threads, path)
        self.session.query("DROP TABLE IF EXISTS t")
        self.session.query(f"CREATE TABLE t ENGINE = Memory AS SELECT * FROM file({files.literal(path)}, Parquet){self.settings}")

    def query(self, s):
        import pyarrow as pa

        text = s["sql"]["chdb"] + self.settings

        def run():
            memory = self.session.query(text, "Arrow").get_memview()
            return pa.ipc.open_file(memory.view()).read_all(), memory

        return run


class DataFusion(tables.DataFusion):
    def __init__(self, threads, path):
        super().__init__(threads)
        self.load(read(path))

    def query(self, s):
        return lambda: self.ctx.sql(s["sql"]["datafusion"]).collect()


def polars(engine, from_file):
    def make(threads, path):
        import polars as pl

        if pl.thread_pool_size() != threads:
            raise RuntimeError("Polars ignored POLARS_MAX_THREADS")
        frame = None if from_file else pl.from_arrow(read(path), rechunk=True).lazy()
        return Polars(pl, path, frame, engine)

    return make


class Polars:
    def __init__(self, pl, path, frame, engine):
        self.pl, self.path, self.frame, self.engine = pl, path, frame, engine

    def query(self, s):
        def run():
            t = self.pl.scan_parquet(self.path) if self.frame is None else self.frame
            return questions(self.pl, t)[s["name"]].collect(engine=self.engine)

        return run


def read(path):
    import pyarrow.parquet as pq

    return pq.read_table(path)


def questions(pl, t):
    """The questions in Polars' expressions. Columns have the order of the statements."""
    col = pl.col

    def sums(*names):
        return [col(n).sum().alias("sum_" + n) for n in names]

    def means(*names):
        return [col(n).mean().alias("mean_" + n) for n in names]

    return {
        "q01": t.group_by("id1").agg(sums("v1")),
        "q02": t.group_by("id1", "id2").agg(sums("v1")),
        "q03": t.group_by("id3").agg(sums("v1") + means("v3")),
        "q04": t.group_by("id4").agg(means("v1", "v2", "v3")),
        "q05": t.group_by("id6").agg(sums("v1", "v2", "v3")),
        "q06": t.group_by("id4", "id5").agg(col("v3").median().alias("median_v3"), col("v3").std().alias("sd_v3")),
        "q07": t.group_by("id3").agg((col("v1").max() - col("v2").min()).alias("range_v1_v2")),
        "q08": t.drop_nulls("v3").group_by("id6").agg(col("v3").top_k(2).alias("largest2_v3")).explode("largest2_v3"),
        "q09": t.group_by("id2", "id4").agg((pl.corr("v1", "v2") ** 2).alias("r2")),
        "q10": t.group_by("id1", "id2", "id3", "id4", "id5", "id6").agg(sums("v3") + [pl.len().alias("n")]),
    }


# By name: in memory, and on the file.
ENGINES = {
    "duckdb": (DuckDB, files.DuckDB),
    "chdb": (ClickHouse, files.ClickHouse),
    "polars-streaming": (polars("streaming", False), polars("streaming", True)),
    "polars": (polars("in-memory", False), polars("in-memory", True)),
    "datafusion": (DataFusion, files.DataFusion),
}


# Answers, summarized as in answer.go.


def table_of(result):
    import pyarrow as pa

    if isinstance(result, list):
        return pa.Table.from_batches(result)
    if isinstance(result, tuple):
        return result[0]
    return result if isinstance(result, pa.Table) else result.to_arrow()


def summarize(table, keys):
    import numpy as np
    import pyarrow as pa

    hashes = np.zeros(table.num_rows, np.uint64)
    for j in range(keys):
        hashes = tables.mix((hashes ^ tables.words(table.column(j))) + np.uint64((j + 1) * tables.GOLDEN & tables.MASK))
    weights = (hashes >> np.uint64(11)) / (1 << 53)
    values = []
    for j in range(keys, table.num_columns):
        name = table.column_names[j]
        x = np.asarray(table.column(j).cast(pa.float64()).fill_null(float("nan")))
        valid = ~np.isnan(x) & ((x != 0) | (not name.startswith("sum_")))
        values.append({"name": name, "count": int(valid.sum()), "sum": float(x[valid].sum()), "weighted": float((x * weights)[valid].sum())})
    return {"rows": table.num_rows, "keys": int(hashes.sum(dtype=np.uint64)), "values": values}


def add_answer(path, name, summary):
    answers = {}
    if os.path.exists(path):
        with open(path) as f:
            answers = json.load(f)
    answers[name] = summary
    with open(path, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main()
