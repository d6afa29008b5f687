# SPDX-License-Identifier: Apache-2.0

"""The driver adbc_driver_vecql by the name that Polars looks for to open a URI cassandra://host/keyspace."""

from adbc_driver_vecql import connect

__all__ = ["connect"]
