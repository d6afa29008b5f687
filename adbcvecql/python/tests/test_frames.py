# SPDX-License-Identifier: Apache-2.0

"""Tests of data frames: Polars, pandas, DuckDB and pyarrow, with vectors. VECQL_URI names a cluster and a keyspace."""

import os

import pyarrow as pa
import pytest

from adbc_driver_vecql import dbapi

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

URI = os.environ["VECQL_URI"]
DIM, ROWS = 4, 50
VECTORS = np.random.default_rng(1).standard_normal((ROWS, DIM)).astype(np.float32)
IDS = list(range(ROWS))


@pytest.fixture
def conn():
    with dbapi.connect(URI) as connection:
        yield connection


@pytest.fixture
def cur(conn):
    with conn.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS frames")
        cursor.execute(f"CREATE TABLE frames (id int PRIMARY KEY, name text, v vector<float, {DIM}>)")
        yield cursor


def names():
    return [f"row {i}" for i in IDS]


FRAMES = {
    "pyarrow": lambda: pa.table({"id": pa.array(IDS, pa.int32()), "name": names(), "v": pa.FixedSizeListArray.from_arrays(VECTORS.ravel(), DIM)}),
    "pyarrow lists of doubles": lambda: pa.table({"id": IDS, "name": names(), "v": VECTORS.astype(float).tolist()}),
    "pyarrow batch": lambda: pa.record_batch({"id": IDS, "name": names(), "v": pa.array(list(VECTORS), pa.list_(pa.float32(), DIM))}),
    "polars": lambda: pl.DataFrame({"id": IDS, "name": names(), "v": VECTORS}),
    "polars lists": lambda: pl.DataFrame({"id": IDS, "name": names(), "v": VECTORS.tolist()}),
    "pandas": lambda: pd.DataFrame({"id": IDS, "name": names(), "v": list(VECTORS)}),
    "pandas lists": lambda: pd.DataFrame({"id": IDS, "name": names(), "v": VECTORS.tolist()}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_ingest(cur, kind):
    assert cur.adbc_ingest("frames", FRAMES[kind](), mode="append") == ROWS
    check(cur)


def check(cur):
    cur.execute("SELECT id, name, v FROM frames")
    got = pl.DataFrame(cur.fetch_arrow_table()).sort("id")
    assert got["id"].to_list() == IDS
    assert got["name"].to_list() == names()
    assert np.array_equal(got["v"].to_numpy(), VECTORS)


def test_create(cur):
    for frame in (FRAMES["polars"](), FRAMES["pyarrow"]()):
        cur.execute("DROP TABLE frames")
        cur.adbc_ingest("frames", frame, primary_key="id")
        check(cur)
    with pytest.raises(dbapi.ProgrammingError, match="a table needs a primary key"):
        cur.connection.cursor().adbc_ingest("made", frame)


def test_polars(conn, cur):
    FRAMES["polars"]().write_database("frames", conn, if_table_exists="append")
    check(cur)
    got = pl.read_database("SELECT id, v FROM frames", conn)
    assert got.height == ROWS
    assert got.schema == {"id": pl.Int32, "v": pl.Array(pl.Float32, DIM)}
    got = pl.read_database("SELECT v FROM frames WHERE id = :id", conn, execute_options={"parameters": {"id": 7}})
    assert np.array_equal(got["v"].to_numpy(), VECTORS[7:8])
    parts = list(pl.read_database("SELECT id FROM frames", conn, iter_batches=True))
    assert sum(part.height for part in parts) == ROWS


@pytest.mark.parametrize("scheme", ["cassandra", "scylla"])
def test_polars_by_uri(cur, scheme):
    uri = URI.replace("cassandra://", f"{scheme}://")
    FRAMES["polars"]().write_database("frames", uri, if_table_exists="append", engine="adbc")
    check(cur)
    got = pl.read_database_uri("SELECT id, v FROM frames WHERE id IN ?", uri, engine="adbc", execute_options={"parameters": [[1, 2]]})
    assert got.sort("id")["id"].to_list() == [1, 2]
    cur.execute("DROP TABLE frames")
    FRAMES["polars"]().write_database("frames", uri, engine="adbc", engine_options={"primary_key": "id"})
    check(cur)


def test_pandas(conn, cur):
    frame = FRAMES["pandas"]()
    assert frame.to_sql("frames", conn, if_exists="append", index=False) == ROWS
    check(cur)
    got = pd.read_sql("SELECT id, v FROM frames", conn, index_col="id").sort_index()
    assert np.array_equal(np.stack(got["v"]), VECTORS)
    got = pd.read_sql("SELECT id, v FROM frames", conn, dtype_backend="pyarrow")
    assert got["v"].dtype == pd.ArrowDtype(pa.list_(pa.field("element", pa.float32(), False), DIM))
    cur.execute("SELECT id, name FROM frames WHERE id < ? ALLOW FILTERING", (3,))
    assert sorted(cur.fetch_df()["name"]) == ["row 0", "row 1", "row 2"]


def test_duckdb(conn, cur):
    duckdb = pytest.importorskip("duckdb")
    FRAMES["polars"]().write_database("frames", conn, if_table_exists="append")
    cur.execute("SELECT id, v FROM frames")
    reader = cur.fetch_record_batch()  # noqa: F841: DuckDB finds it by its name
    query = VECTORS[3].tolist()
    near = duckdb.execute(f"SELECT id FROM reader ORDER BY array_distance(v, ?::FLOAT[{DIM}]) LIMIT 1", [query]).fetchall()
    assert near == [(3,)]
    made = duckdb.sql(f"SELECT range::INT AS id, 'row ' || range AS name, array_value(1, 2, 3, 4)::FLOAT[{DIM}] AS v FROM range(3)")
    assert cur.adbc_ingest("frames", made.to_arrow_table() if hasattr(made, "to_arrow_table") else made.arrow(), mode="append") == 3
