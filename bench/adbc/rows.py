# SPDX-License-Identifier: Apache-2.0

"""The tables of the comparison: their rows in a file, and the comparison of a frame with them cell by cell."""

from __future__ import annotations

import os
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DIMENSION = 384
CHUNK = 10_000  # rows that are made and compared at a time

VECTORS = pa.schema([("id", pa.binary(16)), ("embedding", pa.list_(pa.float32(), DIMENSION))])
SMALL = pa.schema([
    ("id", pa.int64()), ("a", pa.int32()), ("b", pa.int32()), ("c", pa.int64()), ("price", pa.float64()),
    ("weight", pa.float64()), ("name", pa.string()), ("city", pa.string()), ("code", pa.string()), ("sold", pa.bool_()),
])
SCHEMAS = {"vectors": VECTORS, "small": SMALL}
COLUMNS = {
    "vectors": f"id uuid PRIMARY KEY, embedding vector<float, {DIMENSION}>",
    "small": """id bigint PRIMARY KEY, a int, b int, c bigint, price double, weight double, name text, city text, code text,
        sold boolean""",
}


def expected(folder: str, table: str, rows: int) -> pa.Table:
    """Return the rows of a table in the order of their key. The file is made if it is missing, and mapped to memory."""
    path = os.path.join(folder, f"{table}_{rows}.arrow")
    if not os.path.exists(path):
        keys = _uuids(rows) if table == "vectors" else None
        with pa.OSFile(path + ".part", "wb") as file, pa.ipc.new_file(file, SCHEMAS[table]) as writer:
            for first in range(0, rows, CHUNK):
                n = min(CHUNK, rows - first)
                random = np.random.default_rng([7, first])
                batch = _vectors(random, keys[first:first + n]) if keys is not None else _small(random, first, n)
                writer.write_batch(batch)
        os.rename(path + ".part", path)
    return pa.ipc.open_file(pa.memory_map(path)).read_all()


def _uuids(rows: int) -> np.ndarray:
    """Return UUIDs of version 4 in ascending order."""
    keys = np.random.default_rng(1).integers(0, 256, (rows, 16), dtype=np.uint8)
    keys[:, 6] = keys[:, 6] & 0x0F | 0x40
    keys[:, 8] = keys[:, 8] & 0x3F | 0x80
    high, low = keys.view(">u8").T
    return keys[np.lexsort((low, high))]


def _vectors(random: np.random.Generator, keys: np.ndarray) -> pa.RecordBatch:
    values = (random.standard_normal(len(keys) * DIMENSION, dtype=np.float32) / 20).astype(np.float32)
    ids = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(keys), [None, pa.py_buffer(keys.tobytes())])
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values), type=VECTORS.field("embedding").type)
    return pa.RecordBatch.from_arrays([ids, vectors], schema=VECTORS)


def _small(random: np.random.Generator, first: int, n: int) -> pa.RecordBatch:
    codes = random.integers(0, 1 << 62, n)
    columns = [
        np.arange(first, first + n), random.integers(-2**31, 2**31, n), random.integers(0, 1000, n),
        random.integers(-2**63, 2**63 - 1, n), random.integers(0, 100_000, n) / 100, random.standard_normal(n),
        [f"item {i}" for i in range(first, first + n)], [f"city {i}" for i in random.integers(0, 500, n)],
        [np.base_repr(i, 36).lower() for i in codes], random.integers(0, 2, n) == 1,
    ]
    return pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, SMALL)], schema=SMALL)


def differences(got: pa.Table, want: pa.Table) -> str:
    """Return the first difference of two tables, "" for equal ones. The rows of got come in any order; floats are equal
    if their bits are, so that NaN and -0 count."""
    if got.num_rows != want.num_rows:
        return f"{got.num_rows} rows, want {want.num_rows}"
    if sorted(got.column_names) != sorted(want.column_names):
        return f"columns {got.column_names}, want {want.column_names}"
    got = pa.table([_plain(got.column(f.name), f.type) for f in want.schema], want.schema)
    order = pc.sort_indices(got.column("id"))
    for first in range(0, want.num_rows, CHUNK):
        left, right = got.take(order.slice(first, CHUNK)), want.slice(first, CHUNK)
        for name in want.column_names:
            if not _bits(left.column(name)).equals(_bits(right.column(name))):
                return f"column {name} differs in the rows from number {first} on"
    return ""


def _plain(column: pa.ChunkedArray, typ: pa.DataType) -> pa.Array:
    """Return a column of a driver as the type of the file: a UUID may be an extension, bytes or text."""
    array = _joined(column)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if typ == pa.binary(16) and not (pa.types.is_fixed_size_binary(array.type) or _is_binary(array.type)):
        return pa.array([uuid.UUID(s).bytes for s in array.to_pylist()], typ)
    if pa.types.is_fixed_size_list(typ) and not pa.types.is_fixed_size_list(array.type):
        return pa.FixedSizeListArray.from_arrays(array.flatten().cast(typ.value_type), type=typ)
    return array if array.type == typ else array.cast(typ)


def _is_binary(typ: pa.DataType) -> bool:
    return pa.types.is_binary(typ) or pa.types.is_large_binary(typ) or pa.types.is_binary_view(typ)


def _joined(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _bits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return floats as the integers of their bits, and other columns as they are."""
    chunks = [_bits_of(chunk) for chunk in column.chunks]
    return pa.chunked_array(chunks)


def _bits_of(array: pa.Array) -> pa.Array:
    if pa.types.is_fixed_size_list(array.type):
        array = array.flatten()
    if pa.types.is_float32(array.type):
        return array.view(pa.int32())
    return array.view(pa.int64()) if pa.types.is_float64(array.type) else array
