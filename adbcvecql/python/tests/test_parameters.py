# SPDX-License-Identifier: Apache-2.0

"""Tests of parameters: values of Python by the types of their markers. VECQL_URI names a cluster and a keyspace."""

import array
import datetime
import decimal
import ipaddress
import math
import os
import uuid

import adbc_driver_manager.dbapi
import pyarrow as pa
import pytest

import adbc_driver_vecql
from adbc_driver_vecql import dbapi

np = pytest.importorskip("numpy")

ID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
UTC = datetime.timezone.utc
NOON = datetime.datetime(2024, 5, 6, 12, 0, 0, 123456)
COLUMNS = {
    "v": "vector<float, 3>", "w": "vector<double, 2>", "vt": "vector<text, 2>", "l": "list<float>", "ll": "list<frozen<list<float>>>",
    "st": "set<text>", "m": "map<text, float>", "f": "float", "d": "double", "i": "int", "b": "bigint", "n": "varint", "p": "decimal",
    "u": "uuid", "lu": "list<uuid>", "a": "inet", "t": "text", "x": "blob", "o": "boolean", "ts": "timestamp", "dt": "date",
    "tm": "time", "du": "duration", "tp": "tuple<int, uuid>", "ud": "frozen<place>",
}


@pytest.fixture(scope="module")
def cur():
    with dbapi.connect(os.environ["VECQL_URI"]) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS typed")
        cursor.execute("CREATE TYPE IF NOT EXISTS place (street text, number decimal)")
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        cursor.execute(f"CREATE TABLE typed (id int PRIMARY KEY, {columns})")
        yield cursor


FLOATS = [0.1, 0.2, 0.3]
AS_FLOATS = [float(np.float32(f)) for f in FLOATS]


@pytest.mark.parametrize("column, value, want", [
    ("v", FLOATS, AS_FLOATS),
    ("v", tuple(FLOATS), AS_FLOATS),
    ("v", [1, 0, -1], [1.0, 0.0, -1.0]),
    ("v", np.array(FLOATS, np.float32), AS_FLOATS),
    ("v", np.array(FLOATS), AS_FLOATS),
    ("v", np.array([1, 2, 3]), [1.0, 2.0, 3.0]),
    ("v", [np.float32(0.1), np.float64(0.2), 0.3], AS_FLOATS),
    ("v", array.array("f", FLOATS), AS_FLOATS),
    ("v", pa.array(FLOATS, pa.float32()), AS_FLOATS),
    ("v", [math.inf, -math.inf, 0.0], [math.inf, -math.inf, 0.0]),
    ("v", None, None),
    ("w", [0.1, 2], [0.1, 2.0]),
    ("w", np.array([0.5, 0.25], np.float32), [0.5, 0.25]),
    ("vt", ["a", "b"], ["a", "b"]),
    ("l", FLOATS, AS_FLOATS),
    ("l", np.array(FLOATS), AS_FLOATS),
    ("ll", [FLOATS, [1]], [AS_FLOATS, [1.0]]),
    ("ll", np.ones((2, 2)), [[1.0, 1.0], [1.0, 1.0]]),
    ("st", {"b", "a"}, ["a", "b"]),
    ("m", {"k": 0.1}, [("k", AS_FLOATS[0])]),
    ("m", [("k", 1)], [("k", 1.0)]),
    ("f", 0.1, AS_FLOATS[0]),
    ("f", 3, 3.0),
    ("d", 0.1, 0.1),
    ("i", np.int64(7), 7),
    ("i", 7.0, 7),
    ("b", 2**40, 2**40),
    ("n", -2**100, str(-2**100)),
    ("p", decimal.Decimal("1.50"), "1.50"),
    ("p", 7, "7"),
    ("p", "-0.001", "-0.001"),
    ("u", ID, ID),
    ("u", str(ID), ID),
    ("u", ID.bytes, ID),
    ("lu", [ID, str(ID)], [ID, ID]),
    ("a", ipaddress.ip_address("10.0.0.1"), "10.0.0.1"),
    ("a", "::1", "::1"),
    ("t", "it's", "it's"),
    ("x", b"\x00\xff", b"\x00\xff"),
    ("x", bytearray(b"ab"), b"ab"),
    ("o", True, True),
    ("ts", NOON, NOON.replace(microsecond=123000, tzinfo=UTC)),
    ("ts", NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2))), NOON.replace(hour=10, microsecond=123000, tzinfo=UTC)),
    ("dt", NOON.date(), NOON.date()),
    ("dt", NOON, NOON.date()),
    ("tm", NOON.time(), NOON.time()),
    ("du", datetime.timedelta(days=2, seconds=3), (0, 2, 3_000_000_000)),
    ("du", pa.MonthDayNano([1, 2, 3]), (1, 2, 3)),
    ("tp", (7, ID), {"0": 7, "1": ID}),
    ("ud", {"street": "Main", "number": decimal.Decimal("1.5")}, {"street": "Main", "number": "1.5"}),
    ("ud", {"street": "Main"}, {"street": "Main", "number": None}),
], ids=str)
def test_values(cur, column, value, want):
    cur.execute(f"INSERT INTO typed (id, {column}) VALUES (?, ?)", (1, value))
    check(cur, column, want)
    cur.executemany(f"INSERT INTO typed (id, {column}) VALUES (:id, :value)", [{"value": value, "id": 1}, {"value": None, "id": 2}])
    check(cur, column, want)
    cur.execute(f"SELECT {column} FROM typed WHERE id = 2")
    assert cur.fetchone() == (None,)


def check(cur, column, want):
    cur.execute(f"SELECT {column} FROM typed WHERE id = :key", {"key": 1})
    got = cur.fetchone()[0]
    assert normal(got) == want


def normal(value):
    """Return a value of pyarrow in one form: versions differ in the form of UUIDs and of nanoseconds."""
    if isinstance(value, bytes) and len(value) == 16:
        return uuid.UUID(bytes=value)
    if isinstance(value, list):
        return [normal(v) for v in value]
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items()}
    if isinstance(value, pa.MonthDayNano):
        return tuple(value)
    return value


@pytest.mark.parametrize("column, value, error, text", [
    ("v", [0.1, 0.2], dbapi.DataError, "parameter 'v' of type vector<float, 3>: 2 elements, want 3"),
    ("v", [0.1, None, 0.3], dbapi.DataError, "an element is None"),
    ("v", [1e39, 0, 0], dbapi.DataError, "1e+39 exceeds a float"),
    ("v", 0.1, dbapi.ProgrammingError, "parameter 'v' of type vector<float, 3>"),
    ("v", "0.1", dbapi.ProgrammingError, "a str is no list"),
    ("l", ["a"], dbapi.DataError, "parameter 'l' of type list<float>"),
    ("f", -1e39, dbapi.DataError, "-1e+39 exceeds a float"),
    ("i", 2**40, dbapi.DataError, "parameter 'i' of type int"),
    ("i", 1.5, dbapi.ProgrammingError, "parameter 'i' of type int: 1.5 is no integer"),
    ("i", "7", dbapi.ProgrammingError, "parameter 'i' of type int"),
    ("x", "text", dbapi.ProgrammingError, "a str is no bytes"),
    ("t", 7, dbapi.ProgrammingError, "parameter 't' of type text: a int is no text"),
    ("u", "x", dbapi.DataError, "parameter 'u' of type uuid"),
    ("p", "x", dbapi.ProgrammingError, "is not a decimal"),
    ("a", "x", dbapi.ProgrammingError, "is not an IP address"),
    ("tp", (7,), dbapi.DataError, "1 fields, want 2"),
    ("ud", {"city": "x"}, dbapi.DataError, "there is no field 'city'"),
    ("ud", ("x",), dbapi.ProgrammingError, "a tuple is no mapping"),
], ids=str)
def test_values_that_do_not_fit(cur, column, value, error, text):
    with pytest.raises(error) as caught:
        cur.execute(f"INSERT INTO typed (id, {column}) VALUES (?, ?)", (9, value))
    assert text in str(caught.value)
    cur.execute("SELECT id FROM typed WHERE id = 9")
    assert cur.fetchone() is None


@pytest.mark.parametrize("query, parameters, text", [
    ("SELECT id FROM typed WHERE id = ?", (1, 2), "the statement has 1 parameters, 2 values were given"),
    ("SELECT id FROM typed WHERE id = ?", 1, "the parameters are a int, want a sequence"),
    ("SELECT id FROM typed WHERE id = ?", "1", "the parameters are a str, want a sequence"),
    ("SELECT id FROM typed WHERE id = :key", {"kex": 1}, "no value for the parameter 'key': the statement has ['key'], the mapping ['kex']"),
    ("SELECT id FROM typed WHERE id > ? AND id < ? ALLOW FILTERING", {"id": 1}, "two markers ? are about one column"),
    ("SELECT id FROM typed WHERE id = ?", (), "the values of 1 parameters are not bound"),
    ("SELECT id FROM typed", (1,), "the statement has 0 parameters, 1 values were given"),
    ("CREATE TABLE other (id int PRIMARY KEY)", (1,), "a statement of the schema has no parameters"),
])
def test_wrong_parameters(cur, query, parameters, text):
    with pytest.raises(dbapi.ProgrammingError) as caught:
        cur.execute(query, parameters)
    assert text in str(caught.value)


def test_mapping_binds_to_columns(cur):
    cur.execute("INSERT INTO typed (id, t) VALUES (?, ?)", {"t": "x", "id": 3, "more": 0})
    cur.execute("SELECT t FROM typed WHERE id = ?", {"id": 3})
    assert cur.fetchone() == ("x",)


def test_parameters_end_with_their_execution(cur):
    insert = "INSERT INTO typed (id) VALUES (?)"
    cur.execute(insert, (4,))
    with pytest.raises(dbapi.ProgrammingError, match="0 values for 1 bind markers"):
        cur.execute(insert)
        cur.fetchone()
    cur.execute("DROP TABLE IF EXISTS created")
    cur.execute(insert, pa.record_batch({"0": [5]}))
    cur.execute("CREATE TABLE IF NOT EXISTS created (id int PRIMARY KEY)")
    cur.executemany(insert, [])
    cur.executemany(insert, ((i,) for i in (6, 7)))
    assert cur.rowcount == 2


def test_search_by_a_list(cur):
    cur.execute("DROP TABLE IF EXISTS found")
    cur.execute("CREATE TABLE found (id int PRIMARY KEY, v vector<float, 2>)")
    cur.execute("CREATE CUSTOM INDEX ON found (v) USING 'sai'")
    cur.executemany("INSERT INTO found (id, v) VALUES (?, ?)", [(1, [1, 0]), (2, [0, 1]), (3, [0.9, 0.1])])
    cur.execute("SELECT id FROM found ORDER BY v ANN OF ? LIMIT ?", ([1, 0], 2))
    assert [row[0] for row in cur.fetchall()] == [1, 3]


def test_manager_alone_binds_by_name(cur):
    """The driver manager binds a dict itself, without this package."""
    with adbc_driver_manager.dbapi.connect(
        adbc_driver_vecql.library(), os.environ["VECQL_URI"], autocommit=True,
    ) as conn, conn.cursor() as plain:
        plain.execute("INSERT INTO typed (id, t, v) VALUES (:id, :t, :v)", {"v": [0.5, 1.5, 2.5], "t": "named", "id": 8})
        plain.execute("SELECT t, v FROM typed WHERE id = ?", (8,))
        assert plain.fetchone() == ("named", [0.5, 1.5, 2.5])


def test_clone(cur):
    with cur.connection.adbc_clone() as clone, clone.cursor() as other:
        other.execute("INSERT INTO typed (id, v) VALUES (?, ?)", (10, [1, 2, 3]))
        clone.commit()
    cur.execute("SELECT v FROM typed WHERE id = 10")
    assert cur.fetchone() == ([1.0, 2.0, 3.0],)
