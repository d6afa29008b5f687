# SPDX-License-Identifier: Apache-2.0

"""DB-API 2.0 with Arrow.

    with dbapi.connect("cassandra://127.0.0.1/shop") as conn, conn.cursor() as cur:
        cur.execute("INSERT INTO items (id, embedding) VALUES (?, ?)", (1, [0.5, 0.25, -1]))
        cur.execute("SELECT id, embedding FROM items WHERE id = :id", {"id": 1})
        print(cur.fetchone())

Connections and cursors are subclasses of the ones of adbc_driver_manager, and have their methods, such as
fetch_arrow_table. Errors are its classes, which this module has too.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Optional, Union

import adbc_driver_manager
import adbc_driver_manager.dbapi
from adbc_driver_manager.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    DatabaseError,
    DataError,
    Date,
    DateFromTicks,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    Warning,
    apilevel,
    paramstyle,
    threadsafety,
)

import adbc_driver_vecql
from adbc_driver_vecql import _parameters

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "Connection", "Cursor", "DataError", "DatabaseError", "Date",
    "DateFromTicks", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "ProgrammingError", "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks", "Warning",
    "apilevel", "connect", "paramstyle", "threadsafety",
]


def connect(
    uri: str,
    db_kwargs: Optional[Mapping[str, str]] = None,
    conn_kwargs: Optional[Mapping[str, str]] = None,
    **kwargs: Any,
) -> Connection:
    """Connect to a cluster.

    uri is cassandra://user:password@host1:9042,host2/keyspace. db_kwargs and conn_kwargs are options of the database and
    of the connection, such as {"vecql.consistency": "LOCAL_ONE"}. CQL has no transactions: the connection commits each
    statement.
    """
    database = adbc_driver_vecql.connect(uri, db_kwargs)
    connection = None
    try:
        connection = adbc_driver_manager.AdbcConnection(database, **dict(conn_kwargs or {}))
        kwargs.setdefault("autocommit", True)
        return Connection(database, connection, conn_kwargs=dict(conn_kwargs or {}), **kwargs)
    except Exception:
        if connection is not None:
            connection.close()
        database.close()
        raise


class Connection(adbc_driver_manager.dbapi.Connection):
    """A connection of DB-API 2.0."""

    def cursor(self, *, adbc_stmt_kwargs: Optional[Mapping[str, Any]] = None) -> Cursor:
        """Return a new cursor. adbc_stmt_kwargs are options of its statement, such as {"vecql.workers": "1"}."""
        cursor = super().cursor()
        cursor.__class__ = Cursor  # the connection has registered the cursor, which it closes with itself
        assert isinstance(cursor, Cursor)
        try:
            cursor.adbc_statement.set_options(**dict(adbc_stmt_kwargs or {}))
        except Exception:
            cursor.close()
            raise
        return cursor

    def adbc_clone(self) -> Connection:
        """Return a new connection to the same cluster, which shares its sockets."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Warning)  # that there are no transactions
            clone = super().adbc_clone()
        clone.__class__ = Connection
        assert isinstance(clone, Connection)
        return clone


class Cursor(adbc_driver_manager.dbapi.Cursor):
    """A cursor of DB-API 2.0.

    Values of parameters convert to the types of their markers: a list of floats, or an array of NumPy, binds to
    vector<float, n> as to list<float>.
    """

    _is_bound = False  # rows are bound to the statement

    def execute(self, operation: Union[bytes, str], parameters: Any = None) -> Self:
        """Execute a statement and return the cursor.

        parameters are a sequence with a value for each marker ? or :name, a mapping by the names of markers, or data of
        Arrow with a row for each execution. In a mapping a marker ? has the name of its column.
        """
        return super().execute(operation, self._bound(operation, None if _is_empty(parameters) else [parameters]))

    def executemany(self, operation: Union[bytes, str], seq_of_parameters: Any) -> None:
        """Execute a statement once for each of several parameters, many at a time.

        seq_of_parameters are sequences or mappings as for execute, or data of Arrow. adbc_ingest is faster for rows of
        one table.
        """
        super().executemany(operation, self._bound(operation, seq_of_parameters))

    def _bound(self, operation: Union[bytes, str], rows: Optional[Iterable[Any]]) -> Any:
        """Return rows of parameters as data of Arrow."""
        if rows is None and self._is_bound:
            self.adbc_statement.set_sql_query(operation)  # releases the rows of the last execution
        self._is_bound = rows is not None
        if rows is None or _is_arrow(rows):
            return rows
        rows = list(rows)
        if len(rows) == 1 and _is_arrow(rows[0]):
            return rows[0]
        if not rows:
            return rows
        schema = self.adbc_prepare(operation)
        if schema is None:
            raise ProgrammingError("a statement of the schema has no parameters",
                                   status_code=adbc_driver_manager.AdbcStatusCode.INVALID_ARGUMENT)
        return _parameters.batch(schema, rows)

    def adbc_ingest(
        self,
        table_name: str,
        data: Any,
        mode: Literal["append", "create", "replace", "create_append"] = "create",
        *,
        primary_key: Optional[str] = None,
        **kwargs: Any,
    ) -> int:
        """Write rows into a table, and return their number.

        data is a data frame of Polars or pandas, a table or a reader of pyarrow, or other data of Arrow. mode is
        "append" for a table that exists, or "create", "create_append" or "replace". A table that is created needs a
        primary key, as in CQL: "id", or "(country, city), name". A column that is NULL in a row is not written.
        """
        if primary_key is not None:
            self.adbc_statement.set_options(**{"vecql.ingest.primary_key": primary_key})
        self._is_bound = True
        return super().adbc_ingest(table_name, data, mode, **kwargs)


def _is_arrow(value: Any) -> bool:
    """Report whether a value is data of Arrow."""
    return hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")


def _is_empty(parameters: Any) -> bool:
    """Report whether parameters have no values."""
    return parameters is None or isinstance(parameters, (list, tuple, dict)) and not parameters
