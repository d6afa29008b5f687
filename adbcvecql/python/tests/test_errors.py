# SPDX-License-Identifier: Apache-2.0

"""Tests of errors: their classes of DB-API 2.0 and their texts. VECQL_URI names a cluster and a keyspace."""

import os
import re

import pyarrow as pa
import pytest

from adbc_driver_vecql import dbapi

# Names of Go's types and packages, which a text for users of Python does not have.
GO = re.compile(r"\[\]|map\[|interface|\*?(cql|vecql|adbc|arrow|column)\.[A-Z]|<nil>|goroutine|%!|0x[0-9a-f]{6}")


@pytest.fixture
def cur():
    with dbapi.connect(os.environ["VECQL_URI"]) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS faulty")
        cursor.execute("CREATE TABLE faulty (id int PRIMARY KEY, name text, n int, f float, v vector<float, 2>)")
        yield cursor


def rows(**columns):
    return pa.table({name: [value] for name, value in columns.items()})


@pytest.mark.parametrize("error, text, run", [
    (dbapi.ProgrammingError, "line 1:", lambda c: c.execute("SELEC id FROM faulty")),
    (dbapi.ProgrammingError, "nothing", lambda c: c.execute("SELECT * FROM nothing")),
    (dbapi.ProgrammingError, "missing", lambda c: c.execute("SELECT missing FROM faulty")),
    (dbapi.ProgrammingError, "ALLOW FILTERING", lambda c: c.execute("SELECT id FROM faulty WHERE n = 1").fetchall()),
    (dbapi.ProgrammingError, "faulty", lambda c: c.execute("CREATE TABLE faulty (id int PRIMARY KEY)")),
    (dbapi.IntegrityError, "Invalid null value in condition for column id", lambda c: c.execute("INSERT INTO faulty (id) VALUES (?)", (None,))),
    (dbapi.IntegrityError, "id", lambda c: c.adbc_ingest("faulty", pa.table({"id": pa.array([None], pa.int32())}), mode="append")),
    (dbapi.DataError, "row 0", lambda c: c.adbc_ingest("faulty", rows(id=1, n=2**40), mode="append")),
    (dbapi.DataError, "dimension", lambda c: c.adbc_ingest("faulty", rows(id=1, v=[1.0]), mode="append")),
    (dbapi.ProgrammingError, "float64", lambda c: c.adbc_ingest("faulty", rows(id=1, f=0.1), mode="append")),
    (dbapi.ProgrammingError, "column of string", lambda c: c.adbc_ingest("faulty", rows(id=1, n="x"), mode="append")),
    (dbapi.ProgrammingError, 'no column "city"', lambda c: c.adbc_ingest("faulty", rows(id=1, city="x"), mode="append")),
    (dbapi.ProgrammingError, "nowhere", lambda c: c.adbc_ingest("nowhere", rows(id=1), mode="append")),
    (dbapi.NotSupportedError, "user-defined type", lambda c: c.adbc_ingest("made", rows(id=1, s={"a": 1}), primary_key="id")),
    (dbapi.ProgrammingError, "the rows have no column", lambda c: c.adbc_ingest("made", rows(id=1), primary_key="key")),
    (dbapi.ProgrammingError, "vecql.workers", lambda c: c.connection.cursor(adbc_stmt_kwargs={"vecql.workers": "0"})),
    (dbapi.NotSupportedError, "unknown option", lambda c: c.connection.cursor(adbc_stmt_kwargs={"vecql.worker": "1"})),
    (dbapi.ProgrammingError, "set the option adbc.connection.db_schema", lambda c: c.execute("USE shop")),
    (dbapi.NotSupportedError, "unknown option", lambda c: dbapi.connect(os.environ["VECQL_URI"], conn_kwargs={"vecql.worker": "1"})),
    (dbapi.NotSupportedError, "unknown option", lambda c: dbapi.connect(os.environ["VECQL_URI"], {"vecql.worker": "1"})),
    (dbapi.ProgrammingError, "consistency", lambda c: dbapi.connect(os.environ["VECQL_URI"] + "?consistency=MOST")),
    (dbapi.ProgrammingError, "cassandra://", lambda c: dbapi.connect("postgresql://127.0.0.1/shop")),
    (dbapi.ProgrammingError, "no contact points", lambda c: dbapi.connect("cassandra:///shop")),
    (dbapi.ProgrammingError, "does not exist", lambda c: dbapi.connect(re.sub("/shop$", "/nowhere", os.environ["VECQL_URI"]))),
    (dbapi.OperationalError, "127.0.0.1:1", lambda c: dbapi.connect("cassandra://127.0.0.1:1/shop")),
])
def test_classes_and_texts(cur, error, text, run):
    with pytest.raises(dbapi.Error) as caught:
        run(cur)
    message = str(caught.value)
    assert type(caught.value) is error, message
    assert text in message
    assert not GO.search(message), message
    assert message.count("vecql: ") <= 1, "one prefix: " + message
    assert not re.search(r"\b(\w+):? \1\b", message), "the operation once: " + message
    server = re.search(r"server: [^:]+: (.{8,40})", message)
    assert server is None or message.count(server[1]) == 1, "the text of the server once: " + message


def test_exceptions_are_on_the_connection(cur):
    assert cur.connection.ProgrammingError is dbapi.ProgrammingError
    assert (dbapi.apilevel, dbapi.paramstyle, dbapi.threadsafety) == ("2.0", "qmark", 1)
    try:
        cur.execute("SELECT * FROM nothing")
    except dbapi.ProgrammingError as error:
        assert error.vendor_code == 0x2200
        assert error.sqlstate == "42S02"
