# SPDX-License-Identifier: Apache-2.0

"""The drivers of the comparison. Each reads a table into a data frame, and writes one, as its manual recommends."""

from __future__ import annotations

import os
import uuid
from typing import Any, Callable, Iterator

import numpy as np
import pyarrow as pa

FRAMES = ("polars", "pandas", "duckdb")
PAGE = 5000  # rows, the default of the peers


def frame_of(kind: str, table: Callable[[], pa.Table], reader: Callable[[], pa.RecordBatchReader]) -> Any:
    """Return a frame of Arrow data: DuckDB takes it as a stream, the others as a table."""
    if kind == "polars":
        import polars
        return polars.from_arrow(table())
    if kind == "pandas":
        return table().to_pandas()
    import duckdb
    db = duckdb.connect()
    stream = reader()  # the name of the stream in the statement
    db.execute("CREATE TABLE t AS SELECT * FROM stream")
    return db


def as_arrow(kind: str, frame: Any, schema: pa.Schema) -> pa.Table:
    """Return the cells of a frame as Arrow data."""
    if kind == "polars":
        return frame.to_arrow()
    if kind == "duckdb":
        return frame.sql("SELECT * FROM t").to_arrow_table()
    columns = []
    for field in schema:
        values = frame[field.name]
        if pa.types.is_fixed_size_list(field.type):
            flat = np.concatenate(values.to_numpy()).astype(np.float32, copy=False)
            columns.append(pa.FixedSizeListArray.from_arrays(pa.array(flat), type=field.type))
        elif values.dtype == object and isinstance(values.iloc[0], uuid.UUID):
            columns.append(pa.array([v.bytes for v in values], field.type))
        elif values.dtype == object and isinstance(values.iloc[0], bytes):
            columns.append(pa.array(values, field.type))
        else:
            columns.append(pa.array(values))
    return pa.table(columns, names=schema.names)


class Adbc:
    """A driver of ADBC."""

    def __init__(self, host: str, keyspace: str) -> None:
        self.uri = f"cassandra://{host}/{keyspace}"

    def connect(self) -> Any:
        raise NotImplementedError

    def read(self, kind: str, query: str, schema: pa.Schema) -> Any:
        with self.connect() as conn, conn.cursor() as cur:
            cur.execute(query)
            return frame_of(kind, cur.fetch_arrow_table, cur.fetch_record_batch)

    def write(self, frame: Any, table: str) -> None:
        with self.connect() as conn, conn.cursor() as cur:
            cur.adbc_ingest(table, self.keyed(frame.to_arrow()), mode="append")

    def keyed(self, table: pa.Table) -> pa.Table:
        return table


class Vecql(Adbc):
    def connect(self) -> Any:
        from adbc_driver_vecql import dbapi
        return dbapi.connect(self.uri)

    def execute(self, *statements: str) -> None:
        with self.connect() as conn, conn.cursor() as cur:
            for text in statements:
                cur.execute(text)

    def table(self, query: str) -> pa.Table:
        with self.connect() as conn, conn.cursor() as cur:
            cur.execute(query)
            return cur.fetch_arrow_table()


class AdbcCassandra(Adbc):
    """adbc-drivers/cassandra."""

    def connect(self) -> Any:
        import adbc_driver_manager.dbapi
        return adbc_driver_manager.dbapi.connect(driver=os.environ["ADBC_CASSANDRA_LIBRARY"], db_kwargs={"uri": self.uri},
                                                 autocommit=True)

    def keyed(self, table: pa.Table) -> pa.Table:
        return table.replace_schema_metadata({"cassandra:primary_key": "id"})


class CassandraDriver:
    """cassandra-driver. Each page becomes Arrow data when it arrives: lists of Python's floats for all rows would take
    more than ten gigabytes."""

    def __init__(self, host: str, keyspace: str) -> None:
        self.host, self.port = host.rsplit(":", 1)
        self.keyspace = keyspace

    def session(self) -> tuple[Any, Any]:
        from cassandra.cluster import Cluster
        from cassandra.query import tuple_factory
        cluster = Cluster([self.host], port=int(self.port))
        session = cluster.connect(self.keyspace)
        session.row_factory = tuple_factory
        session.default_fetch_size = PAGE
        session.default_timeout = 60
        return cluster, session

    def read(self, kind: str, query: str, schema: pa.Schema) -> Any:
        cluster, session = self.session()
        try:
            batches = [self.batch(columns, schema) for columns in self.pages(session, query)]
            table = pa.Table.from_batches(batches, schema)
            return frame_of(kind, lambda: table, table.to_reader)
        finally:
            cluster.shutdown()

    def pages(self, session: Any, query: str) -> Iterator[list[Any]]:
        """Yield the columns of each page."""
        result = session.execute(query)
        while True:
            rows = result.current_rows
            if rows:
                yield list(zip(*rows))
            if not result.has_more_pages:
                return
            result.fetch_next_page()

    def batch(self, columns: list[Any], schema: pa.Schema) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([self.array(c, f.type) for c, f in zip(columns, schema)], schema=schema)

    def array(self, values: Any, typ: pa.DataType) -> pa.Array:
        if pa.types.is_fixed_size_list(typ):
            flat = np.array(list(values), dtype=np.float32).ravel()
            return pa.FixedSizeListArray.from_arrays(pa.array(flat), type=typ)
        if pa.types.is_fixed_size_binary(typ):
            return pa.array([v.bytes for v in values], typ)
        return pa.array(values, typ)

    def write(self, frame: Any, table: str) -> None:
        from cassandra.concurrent import execute_concurrent_with_args
        cluster, session = self.session()
        try:
            names = frame.columns
            statement = session.prepare(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})")
            rows = frame.iter_rows()
            if frame.schema["id"].to_python() is bytes:
                rows = ((uuid.UUID(bytes=row[0]), *row[1:]) for row in rows)
            for _ in execute_concurrent_with_args(session, statement, rows, concurrency=100, results_generator=True):
                pass
        finally:
            cluster.shutdown()


class CassandraNumpy(CassandraDriver):
    """cassandra-driver with its row factory of NumPy arrays."""

    def session(self) -> tuple[Any, Any]:
        from cassandra.protocol import NumpyProtocolHandler
        cluster, session = super().session()
        session.client_protocol_handler = NumpyProtocolHandler
        return cluster, session

    def pages(self, session: Any, query: str) -> Iterator[list[Any]]:
        result = session.execute(query)
        while True:
            for page in result.current_rows if isinstance(result.current_rows, list) else [result.current_rows]:
                yield list(page.values())
            if not result.has_more_pages:
                return
            result.fetch_next_page()

    def array(self, values: Any, typ: pa.DataType) -> pa.Array:
        if values.dtype == object:
            return super().array(values, typ)
        return pa.array(np.ma.getdata(values), typ)


DRIVERS = {
    "vecql": Vecql, "adbc-cassandra": AdbcCassandra, "cassandra-driver": CassandraDriver,
    "cassandra-driver-numpy": CassandraNumpy,
}
