# SPDX-License-Identifier: Apache-2.0

"""Measures other libraries on the data of vector_test.go, in Go's benchmark format: see run.sh.

  numpy     queries @ rows.T by OpenBLAS, the k nearest by argpartition, sorted. Cosine and squared L2 are computed from
            the inner products; the lengths of the rows are computed before the clock starts, which favors numpy
  faiss     IndexFlatIP, IndexFlatL2, IndexScalarQuantizer of 8 bits and IndexBinaryFlat; cosine is the inner product,
            because the vectors have length 1
  usearch   search with exact=True
  sgemm     the product queries @ rows.T of numpy alone, which finds nothing: the limit of arithmetic
  duckdb    a table in memory of FLOAT[dim], one statement for each query: ORDER BY array_distance(...) LIMIT k
  lancedb   a table on disk in the page cache without an index, one search for each query
  numkong   dots_packed of int8 and hammings_packed, the rows divided among threads, the k nearest as for numpy. The rows
            have the scales of package vector

Of the format parquet numpy and duckdb read a file of ids and vectors, which is in the page cache, in each search. numpy
reads it by pyarrow, 50,000 rows at a time.

The positions of the first call are compared with those that the Go benchmark wrote, except for rows whose distances
differ in the last bits only: at least 99 % of them must be equal. Rows of bits are compared by their distances, because
many are equal. IndexScalarQuantizer rounds by other scales, and does not round the queries: its recall is printed.
"""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
a.add_argument("--dir", required=True)
a.add_argument("--engine", required=True, choices=["numpy", "sgemm", "faiss", "usearch", "numkong", "duckdb", "lancedb"])
a.add_argument("--dim", type=int, default=768)
a.add_argument("--threads", type=int, default=2)
a.add_argument("--queries", default="1,2,4,8,16,32,128")
a.add_argument("--k", type=int, default=10)
a.add_argument("--seconds", type=float, default=1)
args = a.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(args.threads)

import numpy as np  # noqa: E402, after the numbers of threads

K = args.k
rows = np.fromfile(os.path.join(args.dir, "rows.f32"), np.float32).reshape(-1, args.dim)
queries = np.fromfile(os.path.join(args.dir, "queries.f32"), np.float32).reshape(-1, args.dim)


def nearest(d):
    found = np.argpartition(d, K, axis=1)[:, :K]
    order = np.argsort(np.take_along_axis(d, found, 1), axis=1)
    return np.take_along_axis(found, order, 1)


def bits(v):
    return np.packbits(v > 0, axis=1, bitorder="little")


def codes(v):
    scales = np.abs(v).max(axis=1) / np.float32(127)
    return np.rint(v / scales[:, None]).astype(np.int8), scales


def numpy_parquet(q, metric):
    import pyarrow.parquet as pq

    ids, distances = [], []
    for b in pq.ParquetFile(os.path.join(args.dir, "rows.parquet")).iter_batches(batch_size=50_000):
        part = b["v"].flatten().to_numpy().reshape(-1, args.dim)
        d = -(q @ part.T)
        if metric == "cosine":
            d /= np.sqrt(np.einsum("ij,ij->i", part, part))
        elif metric == "squared-L2":
            d = np.einsum("ij,ij->i", part, part) + 2 * d
        found = nearest(d)
        ids.append(b["id"].to_numpy()[found])
        distances.append(np.take_along_axis(d, found, 1))
    ids, distances = np.concatenate(ids, 1), np.concatenate(distances, 1)
    return np.take_along_axis(ids, np.argsort(distances, axis=1)[:, :K], 1)


def numpy_search(form, metric):
    if form == "parquet":
        return lambda q: numpy_parquet(q, metric)
    squares = np.einsum("ij,ij->i", rows, rows)
    lengths = np.sqrt(squares)

    def search(q):
        d = -(q @ rows.T) if len(q) > 1 else -(rows @ q[0])[None, :]
        if metric == "cosine":
            d /= lengths
        elif metric == "squared-L2":
            d = squares + 2 * d
        return nearest(d)

    return search


def faiss_search(form, metric):
    import faiss

    faiss.omp_set_num_threads(args.threads)
    if form == "bits":
        index = faiss.IndexBinaryFlat((args.dim + 7) // 8 * 8)
        index.add(bits(rows))
        return lambda q: index.search(bits(q), K)[1]
    kind = faiss.METRIC_L2 if metric == "squared-L2" else faiss.METRIC_INNER_PRODUCT
    if form == "int8":
        index = faiss.IndexScalarQuantizer(args.dim, faiss.ScalarQuantizer.QT_8bit, kind)
        index.train(rows)
    else:
        index = faiss.IndexFlat(args.dim, kind)
    index.add(rows)
    return lambda q: index.search(q, K)[1]


def sgemm_search(form, metric):
    return lambda q: q @ rows.T if len(q) > 1 else rows @ q[0]


def arrow_table(first=0, last=None):
    import pyarrow as pa

    part = rows[first:last]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), args.dim)
    return pa.table({"id": pa.array(np.arange(first, first + len(part))), "v": vectors})


def duckdb_search(form, metric):
    import duckdb

    c = duckdb.connect(config={"threads": args.threads})
    function = {"dot": "array_negative_inner_product", "cosine": "array_cosine_distance", "squared-L2": "array_distance"}[metric]
    if form == "parquet":
        file = os.path.join(args.dir, "rows.parquet")
        text = f"SELECT id FROM read_parquet('{file}') ORDER BY {function}(v::FLOAT[{args.dim}], ?::FLOAT[{args.dim}]) LIMIT {K}"
        return lambda q: np.stack([c.execute(text, [v.tolist()]).fetchnumpy()["id"] for v in q])
    c.execute(f"CREATE TABLE items (id BIGINT, v FLOAT[{args.dim}])")
    for first in range(0, len(rows), 100_000):
        part = arrow_table(first, first + 100_000)  # noqa: F841, read by the statement
        c.execute("INSERT INTO items SELECT * FROM part")
    text = f"SELECT id FROM items ORDER BY {function}(v, ?::FLOAT[{args.dim}]) LIMIT {K}"
    return lambda q: np.stack([c.execute(text, [v.tolist()]).fetchnumpy()["id"] for v in q])


def lancedb_search(form, metric):
    import lancedb

    folder = tempfile.TemporaryDirectory(dir=args.dir)
    table = lancedb.connect(folder.name).create_table("items", arrow_table())
    kind = {"dot": "dot", "cosine": "cosine", "squared-L2": "l2"}[metric]

    def search(q):
        assert folder
        found = (table.search(v, "v").distance_type(kind).select(["id"]).limit(K).to_arrow() for v in q)
        return np.stack([one["id"].to_numpy() for one in found])

    return search


def usearch_search(form, metric):
    from usearch.index import MetricKind, search

    kind = {"dot": MetricKind.IP, "cosine": MetricKind.Cos, "squared-L2": MetricKind.L2sq}[metric]
    return lambda q: np.asarray(search(rows, q, K, kind, exact=True, threads=args.threads).keys).reshape(len(q), K)


def numkong_search(form, metric):
    import numkong

    pool = ThreadPoolExecutor(args.threads)
    step = -(-len(rows) // args.threads)
    data, scales = (bits(rows), None) if form == "bits" else codes(rows)
    run = numkong.hammings_packed if form == "bits" else numkong.dots_packed
    kind = "uint32" if form == "bits" else "int32"
    if metric == "cosine":
        scales = 1 / np.sqrt(np.einsum("ij,ij->i", data, data, dtype=np.float32))

    def search(q):
        packed = numkong.hammings_pack(bits(q), "uint1") if form == "bits" else numkong.dots_pack(codes(q)[0])
        out = numkong.empty((len(rows), len(q)), dtype=kind)
        part = lambda i: run(data, packed, out=out, start_row=i, end_row=min(i + step, len(rows)))  # noqa: E731
        list(pool.map(part, range(0, len(rows), step)))
        d = np.asarray(out).T
        return nearest(d if form == "bits" else d * -scales)

    return search


CASES = {
    "numpy": (numpy_search, ["float32", "parquet"]),
    "faiss": (faiss_search, ["float32", "int8", "bits"]),
    "usearch": (usearch_search, ["float32"]),
    "numkong": (numkong_search, ["int8", "bits"]),
    "sgemm": (sgemm_search, ["float32"]),
    "duckdb": (duckdb_search, ["float32", "parquet"]),
    "lancedb": (lancedb_search, ["float32"]),
}
# One search with many queries takes these engines as long as as many searches.
ONE_BY_ONE = ["duckdb", "lancedb"]
METRICS = {"float32": ["dot", "cosine", "squared-L2"], "parquet": ["dot", "cosine", "squared-L2"], "int8": ["dot", "cosine"], "bits": ["Hamming"]}


def check(form, metric, found, n):
    """Returns the share of rows that are equal."""
    want = np.fromfile(os.path.join(args.dir, f"{form.replace('parquet', 'float32')}-{metric}.i64"), np.int64).reshape(-1, K)[:n]
    if form == "bits":
        q, r = bits(queries[:n]), bits(rows)
        count = lambda p: np.unpackbits(q[:, None, :] ^ r[p], axis=2).sum(axis=2)  # noqa: E731
        return (count(found) == count(want)).mean()
    return np.mean([len(np.intersect1d(f, w)) / K for f, w in zip(found, want)]) if form == "int8" else (found == want).mean()


engine, forms = CASES[args.engine]
status = 0
for form in forms:
    for metric in METRICS[form] if args.engine != "sgemm" else ["none"]:
        search = engine(form, metric)
        for n in map(int, args.queries.split(",")):
            if args.engine in ONE_BY_ONE and n > 8:
                continue
            q = np.ascontiguousarray(queries[:n])
            same = 1 if args.engine == "sgemm" else check(form, metric, search(q), n)
            if same < 0.99:
                print(f"{args.engine}: {form} by {metric}: {same:.2%} of the rows are equal", file=sys.stderr)
                if (args.engine, form) != ("faiss", "int8"):
                    status = 1
            count, began = 0, time.perf_counter()
            while (took := time.perf_counter() - began) < args.seconds or count == 0:
                search(q)
                count += 1
            name = f"format={form}/metric={metric}/dim={args.dim}/rows={len(rows)}/k={K}/queries={n}/threads={args.threads}"
            print(f"BenchmarkNearest/{name}/impl={args.engine} {count} {took / count * 1e9:.0f} ns/op", flush=True)
sys.exit(status)
