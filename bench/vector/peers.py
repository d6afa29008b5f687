# SPDX-License-Identifier: Apache-2.0

"""Measures other libraries on the data of vector_test.go, in Go's benchmark format: see run.sh.

  numpy     queries @ rows.T by OpenBLAS, the k nearest by argpartition, sorted. Cosine and squared L2 are computed from
            the inner products; the lengths of the rows are computed before the clock starts, which favors numpy
  faiss     IndexFlatIP, IndexFlatL2; cosine is the inner product, because the vectors have length 1
  usearch   search with exact=True

The positions of the first call are compared with those that the Go benchmark wrote, except for rows whose distances
differ in the last bits only: at least 99 % of them must be equal.
"""

import argparse
import os
import sys
import time

a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
a.add_argument("--dir", required=True)
a.add_argument("--engine", required=True, choices=["numpy", "faiss", "usearch"])
a.add_argument("--dim", type=int, default=768)
a.add_argument("--threads", type=int, default=2)
a.add_argument("--queries", default="1,2,4,8,16,32,128")
a.add_argument("--seconds", type=float, default=1)
args = a.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(args.threads)

import numpy as np  # noqa: E402, after the numbers of threads

K = 10
rows = np.fromfile(os.path.join(args.dir, "rows.f32"), np.float32).reshape(-1, args.dim)
queries = np.fromfile(os.path.join(args.dir, "queries.f32"), np.float32).reshape(-1, args.dim)
METRICS = ["dot", "cosine", "squared-L2"]


def numpy_search(metric):
    squares = np.einsum("ij,ij->i", rows, rows)
    lengths = np.sqrt(squares)

    def search(q):
        d = -(q @ rows.T) if len(q) > 1 else -(rows @ q[0])[None, :]
        if metric == "cosine":
            d /= lengths
        elif metric == "squared-L2":
            d = squares + 2 * d
        nearest = np.argpartition(d, K, axis=1)[:, :K]
        order = np.argsort(np.take_along_axis(d, nearest, 1), axis=1)
        return np.take_along_axis(nearest, order, 1)

    return search


def faiss_search(metric):
    import faiss

    faiss.omp_set_num_threads(args.threads)
    index = faiss.IndexFlatL2(args.dim) if metric == "squared-L2" else faiss.IndexFlatIP(args.dim)
    index.add(rows)
    return lambda q: index.search(q, K)[1]


def usearch_search(metric):
    from usearch.index import MetricKind, search

    kind = {"dot": MetricKind.IP, "cosine": MetricKind.Cos, "squared-L2": MetricKind.L2sq}[metric]
    return lambda q: np.asarray(search(rows, q, K, kind, exact=True, threads=args.threads).keys).reshape(len(q), K)


engine = {"numpy": numpy_search, "faiss": faiss_search, "usearch": usearch_search}[args.engine]
status = 0
for metric in METRICS:
    search = engine(metric)
    want = np.fromfile(os.path.join(args.dir, metric + ".i64"), np.int64).reshape(-1, K)
    for n in map(int, args.queries.split(",")):
        q = np.ascontiguousarray(queries[:n])
        same = (search(q) == want[:n]).mean()
        if same < 0.99:
            print(f"{args.engine}: {metric}: {same:.2%} of the positions are equal", file=sys.stderr)
            status = 1
        count, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < args.seconds or count == 0:
            search(q)
            count += 1
        name = f"metric={metric}/dim={args.dim}/rows={len(rows)}/queries={n}/threads={args.threads}/impl={args.engine}"
        print(f"BenchmarkNearest/{name} {count} {took / count * 1e9:.0f} ns/op", flush=True)
sys.exit(status)
