# SPDX-License-Identifier: Apache-2.0

"""ADBC driver for ScyllaDB and Cassandra. See adbc_driver_vecql.dbapi for the interface of DB-API 2.0."""

from __future__ import annotations

import os
import pathlib
from typing import Mapping, Optional

import adbc_driver_manager

__all__ = ["connect", "library"]

_NAMES = ("libadbc_driver_vecql.so", "libadbc_driver_vecql.dylib", "adbc_driver_vecql.dll")


def library() -> str:
    """Return the path of the driver's shared library: ADBC_VECQL_LIBRARY if it is set, else the file of the wheel."""
    path = os.environ.get("ADBC_VECQL_LIBRARY")
    if path:
        return path
    folder = pathlib.Path(__file__).resolve().parent
    for name in _NAMES:
        if (folder / name).exists():
            return str(folder / name)
    raise FileNotFoundError(f"{folder} has no shared library: build it with make adbc, and set ADBC_VECQL_LIBRARY")


def connect(uri: str, db_kwargs: Optional[Mapping[str, str]] = None) -> adbc_driver_manager.AdbcDatabase:
    """Return a database of the low-level interface.

    uri is cassandra://user:password@host1:9042,host2/keyspace; db_kwargs are further options, such as
    {"vecql.uuid": "string"}.
    """
    return adbc_driver_manager.AdbcDatabase(driver=library(), uri=uri, **dict(db_kwargs or {}))
