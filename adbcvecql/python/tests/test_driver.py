# SPDX-License-Identifier: Apache-2.0

"""Tests of the shared library through adbc_driver_manager. VECQL_URI names a cluster and a keyspace."""

import os
import threading
import uuid

import adbc_driver_manager
import pyarrow as pa
import pytest

from adbc_driver_vecql import dbapi

ID = "00112233-4455-6677-8899-aabbccddeeff"


@pytest.fixture
def conn():
    with dbapi.connect(os.environ["VECQL_URI"]) as connection:
        yield connection


@pytest.fixture
def cur(conn):
    with conn.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS items")
        cursor.execute("CREATE TABLE items (id int PRIMARY KEY, u uuid, v vector<float, 3>, price decimal)")
        yield cursor


def fill(cur, rows):
    table = pa.table({
        "id": pa.array(range(rows), pa.int32()),
        "v": pa.FixedSizeListArray.from_arrays(pa.array([float(i) for i in range(3 * rows)], pa.float32()), 3),
    })
    assert cur.adbc_ingest("items", table, mode="append") == rows
    return table


def test_ingest_and_read(cur):
    want = fill(cur, 5000)
    cur.execute("SELECT id, v FROM items")
    got = cur.fetch_arrow_table().sort_by("id")
    assert got.column("id").to_pylist() == want.column("id").to_pylist()
    assert got.column("v").to_pylist() == want.column("v").to_pylist()


def test_memory_outlives_the_connection():
    with dbapi.connect(os.environ["VECQL_URI"]) as conn, conn.cursor() as cur:
        cur.execute("SELECT v FROM items")
        table = cur.fetch_arrow_table()
    assert table.num_rows == 0 or len(table.column("v")[0].as_py()) == 3


def test_results_move_between_threads(cur):
    fill(cur, 5000)
    for query in ("SELECT id, v FROM items", "INSERT INTO items (id) VALUES (1) IF NOT EXISTS"):
        cur.execute(query)
        reader = cur.fetch_record_batch()
        tables = []
        thread = threading.Thread(target=lambda: tables.append(reader.read_all()))
        thread.start()
        thread.join()
        assert tables[0].num_rows in (1, 5000)


def test_parameters_and_types(cur):
    cur.execute("INSERT INTO items (id, u, v, price) VALUES (?, ?, ?, ?)",
                pa.record_batch({"0": [1], "1": [ID], "2": pa.array([[1, 2, 3]], pa.list_(pa.float32(), 3)), "3": ["1.50"]}))
    cur.execute("SELECT u, price FROM items WHERE id = ?", (1,))
    row = cur.fetchone()
    assert row[0] in (uuid.UUID(ID), uuid.UUID(ID).bytes)
    assert row[1] == "1.50"


def test_a_list_of_floats_is_a_vector(cur):
    cur.execute("INSERT INTO items (id, v) VALUES (?, ?)", (1, [0.5, -2.0, 3.0]))
    cur.execute("SELECT v FROM items WHERE id = 1")
    assert cur.fetchone()[0] == [0.5, -2.0, 3.0]
    with pytest.raises(adbc_driver_manager.DataError, match="1 elements, want 3"):
        cur.execute("INSERT INTO items (id, v) VALUES (?, ?)", (1, [0.5]))


def test_partitions(conn, cur):
    fill(cur, 1000)
    parts, schema = cur.adbc_execute_partitions("SELECT id FROM items")
    assert schema.names == ["id"]
    seen = []
    for part in parts:
        with conn.cursor() as other:
            other.adbc_read_partition(part)
            seen += other.fetch_arrow_table().column("id").to_pylist()
    assert sorted(seen) == list(range(1000))


def test_metadata(conn, cur):
    assert conn.adbc_get_info()["driver_name"] == "ADBC vecql driver"
    objects = conn.adbc_get_objects(depth="columns", table_name_filter="items").read_all().to_pylist()
    columns = [c["column_name"] for s in objects[0]["catalog_db_schemas"] for t in s["db_schema_tables"]
               for c in t["table_columns"]]
    assert sorted(columns) == ["id", "price", "u", "v"]
    assert conn.adbc_get_table_schema("items").field("v").type == pa.list_(pa.field("element", pa.float32(), False), 3)
    assert cur.adbc_execute_schema("SELECT id FROM items").names == ["id"]


def test_errors(cur):
    with pytest.raises(adbc_driver_manager.ProgrammingError, match="nothing"):
        cur.execute("SELECT * FROM nothing")
    with pytest.raises(adbc_driver_manager.Error, match="primary key"):
        cur.adbc_ingest("other", pa.table({"x": [1]}), mode="create")
    with pytest.raises(adbc_driver_manager.OperationalError):
        dbapi.connect("cassandra://127.0.0.1:1/shop")
