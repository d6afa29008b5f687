# SPDX-License-Identifier: Apache-2.0

"""Measures other engines on the data of cmd/gbdata, in Go's benchmark format: see run.sh.

Every engine runs in its own process with the given number of threads. It loads the table into its own memory before the
clock starts:

  polars, polars-streaming  a DataFrame (columns are Arrow's memory, strings are views made on loading), with the
              in-memory and the streaming engine
  duckdb      a table in memory, loaded from Arrow; the result is fetched as an Arrow table, in any order
              (preserve_insertion_order is off)
  chdb        a table of the Memory engine; the result is not materialized (FORMAT Null), which favors chDB
  datafusion  record batches of 8192 rows, one partition per thread; the result is collected as record batches
  pyarrow     Table.group_by of a table of chunks of 128K rows; with one thread use_threads is off
  daft        the native runner, from a list of Arrow tables of 128K rows, twice as fast as one table; the result is collected

Before the clock starts, each answer is compared with the checksum in the manifest, which was computed with a Go map. Two
deviations are accepted and reported on stderr. Groups that an engine separates although their keys are equal (NaNs of
different bits in chDB, DataFusion, pyarrow and Daft; 0 and -0 in all of these but DataFusion) are merged first. In Polars
a sum without values is 0 instead of NULL.
"""

import argparse
import gc
import json
import os
import re
import subprocess
import sys
import time

ENGINES = ["polars-streaming", "polars", "duckdb", "chdb", "datafusion", "pyarrow", "daft"]
CHUNK = 1 << 17  # rows per chunk, for engines that distribute chunks to threads
MEMORY_CASES = r"keys=random/groups=5000000/agg=count\+sum$"


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", default=os.environ.get("VECQL_GROUPBY_DATA"), help="folder that gbdata wrote (default $VECQL_GROUPBY_DATA)")
    p.add_argument("--engine", action="append", choices=ENGINES, help="engine to measure (default all); may be repeated")
    p.add_argument("--cases", default=None, help="regular expression that selects cases (default all; with --memory 5M random keys)")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--repeat", type=int, default=6, help="lines per case")
    p.add_argument("--loops", type=int, default=1, help="queries per line, which has their mean")
    p.add_argument("--no-check", action="store_true", help="do not compare answers")
    p.add_argument("--memory", action="store_true", help="measure the peak memory of one query instead, on Linux")
    p.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    if not a.dir:
        p.error("needs --dir or VECQL_GROUPBY_DATA")
    a.cases = a.cases or (MEMORY_CASES if a.memory else "")
    return a


def main():
    a = parse_arguments()
    with open(os.path.join(a.dir, "manifest.json")) as f:
        manifest = json.load(f)
    cases = [c for c in manifest["cases"] if re.search(a.cases, c["name"])]
    if not cases:
        sys.exit("--cases matches no case")
    if a.here:
        return run(a, manifest, cases)
    failed = False
    for engine in a.engine or ENGINES:
        # Memory is measured in a process that runs nothing else.
        for pattern in ["^" + re.escape(c["name"]) + "$" for c in cases] if a.memory else [a.cases]:
            command = [sys.executable, os.path.abspath(__file__), "--here", "--dir", a.dir, "--engine", engine, "--cases", pattern,
                       "--threads", str(a.threads), "--repeat", str(a.repeat), "--loops", str(a.loops)]
            command += ["--no-check"] * a.no_check + ["--memory"] * a.memory
            failed |= subprocess.run(command, env={**os.environ, **limits(a.threads)}).returncode != 0
    sys.exit(1 if failed else 0)


def limits(threads):
    """Environment variables that set numbers of threads."""
    n = str(threads)
    return {"POLARS_MAX_THREADS": n, "TOKIO_WORKER_THREADS": n, "RAYON_NUM_THREADS": n, "OMP_NUM_THREADS": n, "ARROW_IO_THREADS": n,
            "DAFT_ANALYTICS_ENABLED": "0", "DO_NOT_TRACK": "true"}


# Tables


def column(folder, f, rows):
    """Returns the first rows of a column as an Arrow array that shares the bytes of the files."""
    import numpy as np
    import pyarrow as pa

    def buffer(name, dtype, count):
        b = np.fromfile(os.path.join(folder, name), dtype=dtype, count=count)
        if len(b) != count:
            raise ValueError(f"{name} is shorter than its table")
        return pa.py_buffer(b)

    validity, nulls = None, 0
    if f.get("validity"):
        validity = buffer(f["validity"], np.uint8, (rows + 7) // 8)
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[:rows]
        nulls = rows - int(bits.sum())
    if f["type"] == "string":
        offsets = buffer(f["offsets"], np.int32, rows + 1)
        text = buffer(f["file"], np.uint8, int(np.frombuffer(offsets, np.int32)[-1]))
        return pa.Array.from_buffers(pa.string(), rows, [validity, offsets, text], nulls)
    kind = {"int64": (pa.int64(), np.int64), "float64": (pa.float64(), np.float64)}[f["type"]]
    return pa.Array.from_buffers(kind[0], rows, [validity, buffer(f["file"], kind[1], rows)], nulls)


def arrow_table(folder, manifest, name):
    import pyarrow as pa

    t = next(t for t in manifest["tables"] if t["name"] == name)
    arrays = [column(folder, f, t["rows"]) for f in t["columns"]]
    fields = [pa.field(f["name"], a.type, nullable=bool(f.get("validity"))) for f, a in zip(t["columns"], arrays)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


# Engines. load takes a table. query returns a function that runs a case and returns the engine's result. arrow converts the
# result to a table: the keys and then the aggregates, in the order of the case.


def quote(name):
    return '"' + name + '"'


def sql(case, suffix=""):
    aggs = ["count(*)" if g["func"] == "count" else f"{g['func']}({quote(g['column'])})" for g in case["aggs"]]
    keys = [quote(k) for k in case["keys"]]
    columns = keys + [f"{g} AS agg{i}" for i, g in enumerate(aggs)]
    return f"SELECT {', '.join(columns)} FROM t GROUP BY {', '.join(keys)}{suffix}"


class Polars:
    def __init__(self, threads, engine):
        import polars

        self.pl, self.engine = polars, engine
        if polars.thread_pool_size() != threads:
            raise RuntimeError("Polars ignored POLARS_MAX_THREADS")

    def load(self, table):
        self.frame = self.pl.from_arrow(table, rechunk=True)

    def query(self, case):
        pl = self.pl

        def agg(i, g):
            if g["func"] == "count":
                return pl.len().alias(f"agg{i}")
            e = pl.col(g["column"])
            return {"sum": e.sum, "min": e.min, "max": e.max, "avg": e.mean}[g["func"]]().alias(f"agg{i}")

        q = self.frame.lazy().group_by(case["keys"]).agg([agg(i, g) for i, g in enumerate(case["aggs"])])
        return lambda: q.collect(engine=self.engine)

    def arrow(self, result, case):
        return result.to_arrow()


class DuckDB:
    def __init__(self, threads):
        import duckdb

        self.con = duckdb.connect()
        self.con.execute(f"SET threads = {threads}")
        self.con.execute("SET preserve_insertion_order = false")

    def load(self, table):
        self.con.register("arrow_table", table)
        self.con.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM arrow_table")
        self.con.unregister("arrow_table")

    def query(self, case):
        # Sums of integers have 128 bits; they are cast only when answers are compared.
        text = sql(case)
        return lambda: self.con.sql(text).to_arrow_table()

    def arrow(self, result, case):
        return result


class ClickHouse:
    def __init__(self, threads):
        from chdb import session

        self.session, self.threads = session.Session(), threads

    def load(self, table):
        types = {"int64": "Int64", "double": "Float64", "string": "String"}
        columns = [f"{quote(f.name)} {'Nullable(%s)' % types[str(f.type)] if f.nullable else types[str(f.type)]}" for f in table.schema]
        self.session.query("DROP TABLE IF EXISTS t")
        self.session.query(f"CREATE TABLE t ({', '.join(columns)}) ENGINE = Memory")
        source = table  # the query below refers to it by name
        self.session.query(f"INSERT INTO t SELECT * FROM Python(source) SETTINGS max_threads = {self.threads}")

    def query(self, case):
        text = sql(case, f" SETTINGS max_threads = {self.threads}")
        return lambda: self.session.query(text, "Null")

    def arrow(self, result, case):
        import pyarrow as pa

        r = self.session.query(sql(case, f" SETTINGS max_threads = {self.threads}, output_format_arrow_string_as_string = 0"), "Arrow")
        return pa.ipc.open_file(pa.BufferReader(r.bytes())).read_all()


class DataFusion:
    def __init__(self, threads):
        import datafusion

        self.threads = threads
        self.ctx = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(threads))

    def load(self, table):
        batches = table.to_batches(max_chunksize=8192)
        if "t" in self.ctx.catalog().schema().names():
            self.ctx.deregister_table("t")
        n = self.threads
        self.ctx.register_record_batches("t", [batches[len(batches) * i // n : len(batches) * (i + 1) // n] for i in range(n)])

    def query(self, case):
        text = sql(case)
        return lambda: self.ctx.sql(text).collect()

    def arrow(self, result, case):
        import pyarrow as pa

        return pa.Table.from_batches(result)


class PyArrow:
    def __init__(self, threads):
        import pyarrow as pa

        self.threads = threads
        pa.set_cpu_count(threads)

    def load(self, table):
        import pyarrow as pa

        self.table = pa.Table.from_batches(table.to_batches(max_chunksize=CHUNK), table.schema)

    def query(self, case):
        aggs = [([], "count_all") if g["func"] == "count" else (g["column"], {"avg": "mean"}.get(g["func"], g["func"])) for g in case["aggs"]]
        return lambda: self.table.group_by(case["keys"], use_threads=self.threads > 1).aggregate(aggs)

    def arrow(self, result, case):
        names = ["count_all" if g["func"] == "count" else f"{g['column']}_{ {'avg': 'mean'}.get(g['func'], g['func']) }" for g in case["aggs"]]
        return result.select(case["keys"] + names)


class Daft:
    def __init__(self, threads):
        import daft

        self.daft = daft
        daft.set_runner_native(num_threads=threads)

    def load(self, table):
        import pyarrow as pa

        self.frame = self.daft.from_arrow([pa.Table.from_batches([b], table.schema) for b in table.to_batches(max_chunksize=CHUNK)])

    def query(self, case):
        def agg(i, g):
            if g["func"] == "count":
                return self.daft.col(case["keys"][0]).count("all").alias(f"agg{i}")
            e = self.daft.col(g["column"])
            return {"sum": e.sum, "min": e.min, "max": e.max, "avg": e.mean}[g["func"]]().alias(f"agg{i}")

        # A collected frame caches its result, so each query builds a new one.
        return lambda: self.frame.groupby(*case["keys"]).agg(*[agg(i, g) for i, g in enumerate(case["aggs"])]).collect()

    def arrow(self, result, case):
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


# Checksums, computed as in data/answer.go.

NULL_WORD = 0x6C6C756E6C6C756E
GOLDEN = 0x9E3779B97F4A7C15
PRIME = 0x100000001B3
MASK = (1 << 64) - 1


def mix(x):
    import numpy as np

    x = x ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = x ^ (x >> np.uint64(27))
    x = x * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def string_words(array):
    """Returns length*GOLDEN + sum of (byte+1)*PRIME^position for each string, by differences of running sums."""
    import numpy as np
    import pyarrow as pa

    array = array.cast(pa.large_binary())
    words = np.empty(len(array), np.uint64)
    for at in range(0, len(array), 1 << 18):
        part = array.slice(at, 1 << 18)
        offsets = np.frombuffer(part.buffers()[1], np.int64)[part.offset : part.offset + len(part) + 1]
        size = int(offsets[-1] - offsets[0])
        text = np.frombuffer(part.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[0] + size].astype(np.uint64)
        lengths = np.diff(offsets)
        powers = np.array([pow(PRIME, i, 1 << 64) for i in range(int(lengths.max(initial=0)) + 1)], np.uint64)
        starts = offsets[:-1] - offsets[0]
        position = np.arange(size) - np.repeat(starts, lengths)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((text + np.uint64(1)) * powers[position], dtype=np.uint64)])
        words[at : at + len(part)] = lengths.astype(np.uint64) * np.uint64(GOLDEN) + sums[starts + lengths] - sums[starts]
    return words


def words(chunked, func=None, null_is_zero=False):
    """Returns the hashed forms of the values of a column."""
    import numpy as np
    import pyarrow as pa

    array = chunked.combine_chunks() if isinstance(chunked, pa.ChunkedArray) else chunked
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    valid = np.asarray(array.is_valid())
    t = array.type
    if pa.types.is_floating(t):
        f = np.array(array.fill_null(0).cast(pa.float64()))
        if func == "avg":
            w = np.floor(f * (1 << 20) + 0.3183).astype(np.int64).view(np.uint64).copy()
        else:
            f = np.where(f == 0, 0.0, f)
            w = f.view(np.uint64).copy()
            w[np.isnan(f)] = 0x7FF8000000000000
    elif pa.types.is_integer(t) or pa.types.is_decimal(t):
        # DuckDB's sums of integers are 128 bits.
        if not pa.types.is_uint64(t):
            array = array.cast(pa.int64())
        w = np.array(array.fill_null(0)).view(np.uint64).copy()
    else:
        w = string_words(array)
    if not valid.all():
        w[~valid] = 0 if null_is_zero and func == "sum" else NULL_WORD
    return w


def merged(table, case):
    """Merges groups of equal keys. Returns the words of keys and of aggregates, or None if nothing can be merged."""
    import numpy as np

    import pyarrow as pa

    n = len(case["keys"])
    for i, g in enumerate(case["aggs"]):
        if g["func"] not in ("count", "sum") or pa.types.is_floating(table.column(n + i).type):
            return None
    keys = np.stack([words(table.column(i)) for i in range(n)])
    unique, inverse = np.unique(keys, axis=1, return_inverse=True)
    if unique.shape[1] == table.num_rows:
        return None
    aggs = []
    for i in range(n, table.num_columns):
        if table.column(i).null_count:
            return None
        sums = np.zeros(unique.shape[1], np.uint64)
        np.add.at(sums, inverse.reshape(-1), words(table.column(i), case["aggs"][i - n]["func"]))
        aggs.append(sums)
    return list(unique), aggs


def checksum(keys, aggs):
    import numpy as np

    h = np.zeros(len(keys[0]), np.uint64)
    for j, w in enumerate(keys + aggs):
        h = mix((h ^ w) + np.uint64((j + 1) * GOLDEN & MASK))
    return {"groups": len(h), "xor": int(np.bitwise_xor.reduce(h)), "sum": int(h.sum(dtype=np.uint64)),
            "totals": [int(w.sum(dtype=np.uint64)) for w in aggs]}


def check(engine, case, table):
    n = len(case["keys"])
    aggs = [g["func"] for g in case["aggs"]]

    def compute(null_is_zero):
        return checksum([words(table.column(i)) for i in range(n)],
                        [words(table.column(n + i), f, null_is_zero) for i, f in enumerate(aggs)])

    got, want = compute(False), case["answer"]
    if got == want:
        return
    loose = case.get("answer_null_is_zero")
    if loose and engine.startswith("polars") and compute(True) == loose:
        print(f"note: {engine}: {case['name']}: sums without values are 0, not NULL", file=sys.stderr)
        return
    m = merged(table, case)
    if m is not None and checksum(*m) == want:
        print(f"note: {engine}: {case['name']}: {table.num_rows} groups, {want['groups']} after those with equal keys are merged", file=sys.stderr)
        return
    raise ValueError(f"{engine}: {case['name']}: wrong answer\n got {got}\nwant {want}")


# Measuring


def run(a, manifest, cases):
    name = a.engine[0]
    engine = make_engine(name, a.threads)
    if a.memory:
        return memory(a, manifest, cases[0], name, engine)
    loaded, failed = None, False
    for case in cases:
        if loaded != case["table"]:
            engine.load(arrow_table(a.dir, manifest, case["table"]))
            loaded = case["table"]
        query = engine.query(case)
        result = query()  # warm-up
        try:
            if not a.no_check:
                check(name, case, engine.arrow(result, case))
        except ValueError as e:
            print(e, file=sys.stderr)
            failed = True
            continue
        result = None
        for _ in range(a.repeat):
            result = None
            gc.collect()
            taken = 0
            for _ in range(a.loops):
                result = None
                start = time.perf_counter_ns()
                result = query()
                taken += time.perf_counter_ns() - start
            print(f"BenchmarkGroupBy/impl={name}/{case['name']}/threads={a.threads}\t{a.loops}\t{taken // a.loops} ns/op", flush=True)
        result = None
    sys.exit(1 if failed else 0)


def status(name):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(name + ":"):
                return int(line.split()[1]) << 10
    raise RuntimeError(f"/proc/self/status has no field {name}")


def memory(a, manifest, case, name, engine):
    """Measures the peak of one query. A query on few rows first loads code and starts threads, which are not counted.
    Allocators are asked to return free memory after loading. The query may still reuse memory that they kept, so the
    numbers are lower bounds."""
    import ctypes

    import pyarrow as pa

    table = arrow_table(a.dir, manifest, case["table"])
    engine.load(table.slice(0, 1000))
    engine.query(case)()
    engine.load(table)
    table = None
    query = engine.query(case)
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as f:  # resets the peak to the current resident set
        f.write("5")
    before = status("VmRSS")
    result = query()
    taken = status("VmHWM") - before
    del result
    print(f"BenchmarkGroupByMemory/impl={name}/{case['name']}/threads={a.threads}\t1\t{taken} peak-bytes\t"
          f"{taken / case['answer']['groups']:.1f} bytes/group", flush=True)


if __name__ == "__main__":
    main()
