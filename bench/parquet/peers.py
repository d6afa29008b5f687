# SPDX-License-Identifier: Apache-2.0

"""Measures other engines on the Parquet files of cmd/pqdata, in Go's benchmark format: see run.sh.

Every engine runs in its own process, with the given number of threads. The time is from the path of the files, one or a pattern, to the
whole answer in memory. Each query opens the files again; caches of files between queries are off:

  polars-streaming, polars
              scan_parquet, collected by the streaming or the in-memory engine as a DataFrame, whose columns are Arrow's memory
  duckdb      SQL on read_parquet, fetched as an Arrow table, in any order (preserve_insertion_order is off)
  chdb        SQL on file(), fetched as Arrow, uncompressed; caches of schemas, footers and numbers of rows are off
  datafusion  SQL on register_parquet, in as many partitions as there are threads, collected as record batches; a new context each time,
              because contexts cache footers
  pyarrow     dataset.count_rows, or dataset.to_table of the columns needed and then compute.sum or Table.group_by
  daft        read_parquet with the native runner, collected

The answer of embeddings is the ids and one contiguous matrix of float32, both numpy arrays. All engines return lists as Arrow, in pieces
(polars, datafusion, pyarrow and daft their own memory, duckdb a conversion, chdb its output format). The values of the pieces are copied
into the matrix; a single piece is not copied. The time includes this copy.

Each answer is checked against the manifest before the measurement. Failures and wrong answers are reported on stderr.
"""

import argparse
import gc
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import time

ENGINES = ["polars-streaming", "polars", "duckdb", "chdb", "datafusion", "pyarrow", "daft"]


def load_groupby():
    """Loads the peers of groupby, for checksums and limits of threads."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "groupby", "peers.py")
    spec = importlib.util.spec_from_file_location("groupby_peers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


groupby = load_groupby()
quote = groupby.quote


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", default=os.environ.get("VECQL_PARQUET_DATA"), help="folder of pqdata (default $VECQL_PARQUET_DATA)")
    p.add_argument("--engine", action="append", choices=ENGINES, help="engine to measure, may be repeated (default all)")
    p.add_argument("--cases", default="", help="regular expression of the cases (default all)")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--repeat", type=int, default=6, help="lines per case")
    p.add_argument("--loops", type=int, default=1, help="queries per line, averaged")
    p.add_argument("--no-check", action="store_true", help="do not compare answers")
    p.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    if not a.dir:
        p.error("--dir or VECQL_PARQUET_DATA is required")
    return a


def main():
    a = parse_arguments()
    with open(os.path.join(a.dir, "manifest.json")) as f:
        manifest = json.load(f)
    cases = [c for c in manifest["cases"] if re.search(a.cases, c["name"])]
    if not cases:
        sys.exit(f"no case matches {a.cases!r}")
    if a.here:
        return run(a, cases)
    failed = False
    for engine in a.engine or ENGINES:
        command = [sys.executable, os.path.abspath(__file__), "--here", "--dir", a.dir, "--engine", engine, "--cases", a.cases,
                   "--threads", str(a.threads), "--repeat", str(a.repeat), "--loops", str(a.loops)] + ["--no-check"] * a.no_check
        failed |= subprocess.run(command, env={**os.environ, **groupby.limits(a.threads)}).returncode != 0
    sys.exit(1 if failed else 0)


# Engines. query takes a path and a case and returns a function that answers the case; the answer of embeddings is ids and matrix. arrow
# converts any other answer to a table: the keys and then the aggregates, in the order of the case.


def sql(case, table, suffix=""):
    if case["query"] == "embeddings":
        return f"SELECT id, embedding FROM {table}{suffix}"
    aggs = ["count(*)" if g["func"] == "count" else f"{g['func']}({quote(g['column'])})" for g in case["aggs"]]
    keys = [quote(k) for k in case["keys"] or []]
    columns = keys + [f"{g} AS agg{i}" for i, g in enumerate(aggs)]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(columns)} FROM {table}{group}{suffix}"


def literal(path):
    return "'" + path.replace("'", "''") + "'"


def matrix(table):
    """The ids and vectors of an Arrow table."""
    import numpy as np

    lists = table.column("embedding")
    dim, pieces = 0, []
    for chunk in lists.chunks:
        if len(chunk) == 0:
            continue
        values = chunk.flatten().to_numpy(zero_copy_only=True)
        dim = dim or len(values) // len(chunk)
        if chunk.null_count or len(values) != len(chunk) * dim or values.dtype != np.float32:
            raise ValueError(f"{len(values)} values of {values.dtype} in {len(chunk)} vectors of {dim}")
        pieces.append(values)
    values = pieces[0] if len(pieces) == 1 else np.empty(len(lists) * dim, np.float32)
    if len(pieces) != 1:
        np.concatenate(pieces, out=values)
    return table.column("id").to_numpy(), values.reshape(-1, dim)


class Polars:
    def __init__(self, threads, engine):
        import polars

        self.pl, self.engine = polars, engine
        if polars.thread_pool_size() != threads:
            raise RuntimeError("POLARS_MAX_THREADS was not heard")

    def query(self, path, case):
        pl = self.pl

        def agg(i, g):
            return (pl.len() if g["func"] == "count" else pl.col(g["column"]).sum()).alias(f"agg{i}")

        if case["query"] == "embeddings":
            return lambda: matrix(pl.scan_parquet(path).select("id", "embedding").collect(engine=self.engine).to_arrow())
        aggs = [agg(i, g) for i, g in enumerate(case["aggs"])]
        if case["query"] != "groupby":
            return lambda: pl.scan_parquet(path).select(aggs).collect(engine=self.engine)
        return lambda: pl.scan_parquet(path).group_by(case["keys"]).agg(aggs).collect(engine=self.engine)

    def arrow(self, result, case):
        return result.to_arrow()


class DuckDB:
    def __init__(self, threads):
        import duckdb

        self.con = duckdb.connect()
        self.con.execute(f"SET threads = {threads}")
        self.con.execute("SET preserve_insertion_order = false")

    def query(self, path, case):
        # Sums of integers have 128 bits. They are cast only for the comparison of answers.
        text = sql(case, f"read_parquet({literal(path)})")
        if case["query"] == "embeddings":
            return lambda: matrix(self.con.sql(text).to_arrow_table())
        return lambda: self.con.sql(text).to_arrow_table()

    def arrow(self, result, case):
        return result


class ClickHouse:
    def __init__(self, threads):
        from chdb import session

        self.session = session.Session()
        self.settings = (
            f" SETTINGS max_threads = {threads}, schema_inference_use_cache_for_file = 0, use_cache_for_count_from_files = 0,"
            " use_parquet_metadata_cache = 0, output_format_arrow_compression_method = 'none', output_format_arrow_string_as_string = 0"
        )

    def query(self, path, case):
        text = sql(case, f"file({literal(path)}, Parquet)", self.settings)

        def table():
            import pyarrow as pa

            memory = self.session.query(text, "Arrow").get_memview()
            return pa.ipc.open_file(memory.view()).read_all(), memory

        if case["query"] == "embeddings":

            def vectors():
                t, memory = table()
                return *matrix(t), memory

            return vectors
        return table

    def arrow(self, result, case):
        return result[0]


class DataFusion:
    def __init__(self, threads):
        self.threads = threads

    def query(self, path, case):
        import datafusion
        import pyarrow as pa

        text = sql(case, "t")

        def batches():
            ctx = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(self.threads))
            ctx.register_parquet("t", path)
            return ctx.sql(text).collect()

        if case["query"] == "embeddings":
            return lambda: matrix(pa.Table.from_batches(batches()))
        return batches

    def arrow(self, result, case):
        import pyarrow as pa

        return pa.Table.from_batches(result)


class PyArrow:
    def __init__(self, threads):
        import pyarrow as pa

        self.threads = threads
        pa.set_cpu_count(threads)

    def query(self, path, case):
        import pyarrow.compute
        import pyarrow.dataset

        threads = self.threads > 1

        def dataset():
            return pyarrow.dataset.dataset(sorted(glob.glob(path)) if "*" in path else path, format="parquet")

        def table(columns):
            return dataset().to_table(columns=columns, use_threads=threads)

        aggs = [([], "count_all") if g["func"] == "count" else (g["column"], g["func"]) for g in case["aggs"] or []]
        if case["query"] == "count":
            return lambda: dataset().count_rows()
        if case["query"] == "sum":
            return lambda: pyarrow.compute.sum(table([aggs[0][0]]).column(0))
        if case["query"] == "embeddings":
            return lambda: matrix(table(["id", "embedding"]))
        columns = case["keys"] + [g["column"] for g in case["aggs"] if g["func"] != "count"]
        return lambda: table(columns).group_by(case["keys"], use_threads=threads).aggregate(aggs)

    def arrow(self, result, case):
        import pyarrow as pa

        if case["query"] == "count":
            return pa.table({"agg0": [result]})
        if case["query"] == "sum":
            return pa.table({"agg0": pa.array([result.as_py()], result.type)})
        names = ["count_all" if g["func"] == "count" else f"{g['column']}_{g['func']}" for g in case["aggs"]]
        return result.select(case["keys"] + names)


class Daft:
    def __init__(self, threads):
        import daft

        self.daft = daft
        daft.set_runner_native(num_threads=threads)

    def query(self, path, case):
        daft = self.daft

        def agg(i, g):
            e = daft.col(case["keys"][0]).count("all") if g["func"] == "count" else daft.col(g["column"]).sum()
            return e.alias(f"agg{i}")

        if case["query"] == "count":
            return lambda: daft.read_parquet(path).count_rows()
        if case["query"] == "embeddings":
            return lambda: matrix(daft.read_parquet(path).select("id", "embedding").to_arrow())
        aggs = [agg(i, g) for i, g in enumerate(case["aggs"])]
        if case["query"] == "sum":
            return lambda: daft.read_parquet(path).agg(*aggs).collect()
        return lambda: daft.read_parquet(path).groupby(*case["keys"]).agg(*aggs).collect()

    def arrow(self, result, case):
        import pyarrow as pa

        if case["query"] == "count":
            return pa.table({"agg0": [result]})
        return result.to_arrow()


def make_engine(name, threads):
    return {
        "polars": lambda: Polars(threads, "in-memory"),
        "polars-streaming": lambda: Polars(threads, "streaming"),
        "duckdb": lambda: DuckDB(threads),
        "chdb": lambda: ClickHouse(threads),
        "datafusion": lambda: DataFusion(threads),
        "pyarrow": lambda: PyArrow(threads),
        "daft": lambda: Daft(threads),
    }[name]()


# Answers: the checksums of groups are those of groupby, the checksums of matrices those of data/data.go.


class WrongAnswer(Exception):
    pass


def vectors(ids, values):
    import numpy as np

    bits = np.array([int(row.view(np.uint32).sum(dtype=np.uint64)) for row in values], np.uint64)
    sums = []
    for want in (0, len(ids) // 2, len(ids) - 1):
        at = np.flatnonzero(ids == want)
        sums.append(float(values[at].sum(dtype=np.float64)))
    return {"rows": len(ids), "dim": values.shape[1], "ids": int(ids.view(np.uint64).sum(dtype=np.uint64)),
            "bits": int((bits * (ids + 1).view(np.uint64)).sum(dtype=np.uint64)), "sums": sums}


def check(engine, case, result):
    if case["query"] == "embeddings":
        import numpy as np

        ids, values = result[0], result[1]
        if ids.dtype != np.int64 or values.dtype != np.float32 or not values.flags.c_contiguous or len(ids) != len(values):
            raise WrongAnswer(f"{len(ids)} ids of {ids.dtype}, {len(values)} vectors of {values.dtype}")
        got, want = vectors(ids, values), dict(case["vectors"])
        close = all(abs(g - w) < 1e-6 for g, w in zip(got["sums"], want["sums"]))
        if not close or {**got, "sums": 0} != {**want, "sums": 0}:
            raise WrongAnswer(f"got {got}\nwant {want}")
        return
    table, n = engine.arrow(result, case), len(case["keys"] or [])
    if table.num_columns != n + len(case["aggs"]):
        raise WrongAnswer(f"{table.num_columns} columns")
    keys = [groupby.words(table.column(i)) for i in range(n)]
    aggs = [groupby.words(table.column(n + i), g["func"]) for i, g in enumerate(case["aggs"])]
    # A checksum is of keys and aggregates, in this order: without keys the first aggregate takes their place.
    got, want = groupby.checksum(keys or aggs[:1], aggs if keys else aggs[1:]), case["answer"]
    if any(got[k] != want[k] for k in ("groups", "xor", "sum")):
        raise WrongAnswer(f"got {got}\nwant {want}")


# Measuring


def run(a, cases):
    name = a.engine[0]
    engine = make_engine(name, a.threads)
    failed = False
    for case in cases:
        query = engine.query(os.path.join(a.dir, case["path"]), case)
        result = None
        try:
            result = query()  # warms up
            if not a.no_check:
                check(engine, case, result)
            lines = []
            for _ in range(a.repeat):
                result = None
                gc.collect()
                taken = 0
                for _ in range(a.loops):
                    result = None
                    start = time.perf_counter_ns()
                    result = query()
                    taken += time.perf_counter_ns() - start
                lines.append(f"BenchmarkParquet/impl={name}/{case['name']}/threads={a.threads}\t{a.loops}\t{taken // a.loops} ns/op")
        except WrongAnswer as e:
            print(f"{name}: {case['name']}: wrong answer\n{e}", file=sys.stderr)
            failed = True
            continue
        except Exception as e:  # engines have exceptions of their own
            print(f"{name}: {case['name']}: no answer: {type(e).__name__}: {e}", file=sys.stderr)
            failed = True
            continue
        print("\n".join(lines), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
