# SPDX-License-Identifier: Apache-2.0

"""DB-API 2.0 with Arrow: connect(uri).cursor(), then execute, fetch_arrow_table, adbc_ingest and the others."""

from __future__ import annotations

from typing import Any, Mapping, Optional

import adbc_driver_manager
import adbc_driver_manager.dbapi

import adbc_driver_vecql

__all__ = ["connect"]


def connect(
    uri: str,
    db_kwargs: Optional[Mapping[str, str]] = None,
    conn_kwargs: Optional[Mapping[str, str]] = None,
    **kwargs: Any,
) -> adbc_driver_manager.dbapi.Connection:
    """Connect to a cluster.

    uri is cassandra://user:password@host1:9042,host2/keyspace. db_kwargs and conn_kwargs are options of the database and
    of the connection. CQL has no transactions: the connection commits each statement.
    """
    database = adbc_driver_vecql.connect(uri, db_kwargs)
    connection = None
    try:
        connection = adbc_driver_manager.AdbcConnection(database, **dict(conn_kwargs or {}))
        kwargs.setdefault("autocommit", True)
        return adbc_driver_manager.dbapi.Connection(database, connection, conn_kwargs=conn_kwargs, **kwargs)
    except Exception:
        if connection is not None:
            connection.close()
        database.close()
        raise
