# SPDX-License-Identifier: Apache-2.0

"""Tests of the examples. VECQL_URI names a cluster and a keyspace."""

import importlib.util
import os
import pathlib
import xml.etree.ElementTree

import pyarrow as pa
import pytest

from adbc_driver_vecql import dbapi

np = pytest.importorskip("numpy")
pytest.importorskip("polars")


def load(name):
    path = pathlib.Path(__file__).parent.parent / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_embeddings(tmp_path):
    example, rows = load("embeddings"), 90
    vectors = np.random.default_rng(1).standard_normal((rows, 8)).astype(np.float32)
    packages = [f"p{i % 9}/sub" for i in range(rows - 9)] + ["p0"] * 9
    with dbapi.connect(os.environ["VECQL_URI"]) as conn, conn.cursor() as cur:
        cur.execute("DROP TABLE IF EXISTS symbols")
        cur.execute("CREATE TABLE symbols (id int PRIMARY KEY, package text, symbol text, embedding vector<float, 8>)")
        cur.adbc_ingest("symbols", pa.table({
            "id": pa.array(range(rows), pa.int32()), "package": packages, "symbol": ["s"] * rows,
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 8),
        }), mode="append")
    example.main(os.environ["VECQL_URI"], str(tmp_path / "map.svg"))
    paths = [e.get("d") for e in xml.etree.ElementTree.parse(tmp_path / "map.svg").iter() if e.tag.endswith("path")]
    assert len(paths) == len(example.COLORS) + 1
    assert sum(d.count("M") for d in paths) == rows


def test_projection_keeps_the_largest_variance():
    example = load("embeddings")
    points = np.random.default_rng(2).standard_normal((100, 5)).astype(np.float32) * [1, 9, 1, 5, 1]
    centered = points - points.mean(axis=0)
    projected = example.project(points)
    assert abs(np.corrcoef(projected[:, 0], centered[:, 1])[0, 1]) > 0.95
    assert abs(np.corrcoef(projected[:, 1], centered[:, 3])[0, 1]) > 0.95
