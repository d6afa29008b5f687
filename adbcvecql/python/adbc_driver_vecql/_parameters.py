# SPDX-License-Identifier: Apache-2.0

"""Values of Python as parameters: columns of Arrow by the types of the markers."""

from __future__ import annotations

import datetime
import math
import operator
import uuid
from typing import Any, Callable, Iterable, Mapping, Sequence

import pyarrow as pa
from adbc_driver_manager import AdbcStatusCode, DataError, ProgrammingError

# A Plan is the type of a column, and the function that makes pyarrow accept a value for it.
Plan = tuple[pa.DataType, Callable[[Any], Any]]

# Types of CQL that are text in Arrow. A value of Python for them is one of its text.
TEXTS = ("vecql.decimal", "vecql.varint", "vecql.inet")

# The least number that rounds to infinity as a float of 32 bits.
BEYOND_FLOAT = (2 - 2**-24) * 2.0**127


def batch(schema: pa.Schema, rows: Sequence[Any]) -> pa.RecordBatch:
    """Return rows of parameters. A row is a sequence with a value for each field, or a mapping by their names.

    Raises ProgrammingError for a row without a value for a field and for a value of a wrong type, DataError for a value
    that does not fit its type.
    """
    ordered = [_ordered(schema.names, row) for row in rows]
    columns = [_column(field, [row[i] for row in ordered]) for i, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(len(columns))])


def _wrong(text: str) -> ProgrammingError:
    return ProgrammingError(text, status_code=AdbcStatusCode.INVALID_ARGUMENT)


def _ordered(names: list[str], row: Any) -> list[Any]:
    """Return the values of a row in the order of the markers."""
    if isinstance(row, Mapping):
        missing = [name for name in names if name not in row]
        if missing:
            raise _wrong(f"no value for the parameter {missing[0]!r}: the statement has {names}, the mapping {list(row)}")
        if len(set(names)) < len(names):
            raise _wrong(f"two markers ? are about one column of {names}: name them to bind a mapping")
        return [row[name] for name in names]
    if isinstance(row, (str, bytes, set, frozenset)) or not isinstance(row, Iterable):
        raise _wrong(f"the parameters are a {type(row).__name__}, want a sequence such as (1, 'a'), or a mapping by name")
    values = list(row)
    if len(values) != len(names):
        raise _wrong(f"the statement has {len(names)} parameters, {len(values)} values were given")
    return values


def _column(field: pa.Field, values: list[Any]) -> pa.Array:
    """Return the values of a marker."""
    kind, convert = _plan(field)
    try:
        return pa.array([_optional(convert, value) for value in values], kind)
    except (TypeError, pa.ArrowNotImplementedError) as error:
        raise _wrong(_text(field, error)) from error
    except (ValueError, OverflowError) as error:
        raise DataError(_text(field, error), status_code=AdbcStatusCode.INVALID_DATA) from error


def _text(field: pa.Field, error: Exception) -> str:
    metadata: dict[bytes, bytes] = field.metadata or {}
    return f"parameter {field.name!r} of type {metadata.get(b'cassandra.type', b'').decode()}: {error}"


def _optional(convert: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else convert(value)


def _plan(field: pa.Field) -> Plan:
    """Return how the values of a field are made."""
    kind: pa.DataType = field.type
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    mark = (field.metadata or {}).get(b"ARROW:extension:name", b"").decode()
    types = pa.types
    if types.is_fixed_size_list(kind) or types.is_list(kind):
        return _list_plan(kind)
    if types.is_map(kind):
        (key, to_key), (item, to_item) = _plan(kind.key_field), _plan(kind.item_field)
        return pa.map_(key, item), lambda value: [
            (_optional(to_key, k), _optional(to_item, v)) for k, v in (value.items() if isinstance(value, Mapping) else value)]
    if types.is_struct(kind):
        return _struct_plan(list(kind), is_tuple=mark == "vecql.tuple")
    if mark in TEXTS:
        return kind, str
    return kind, next((convert for matches, convert in _CONVERSIONS if matches(kind)), _same)


def _list_plan(kind: pa.DataType) -> Plan:
    """Return how vectors, lists and sets are made."""
    element, convert = _plan(kind.value_field)
    size = kind.list_size if pa.types.is_fixed_size_list(kind) else -1

    def elements(value: Any) -> list[Any]:
        found = _elements(value)
        if size >= 0 and len(found) != size:
            raise ValueError(f"{len(found)} elements, want {size}")
        if any(v is None for v in found):
            raise ValueError("an element is None")
        return found if convert is _same else [convert(v) for v in found]

    return pa.list_(element, size), elements


def _elements(value: Any) -> list[Any]:
    """Return the elements of a list, or of an array of NumPy, PyTorch, pandas, pyarrow or Polars."""
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"a {type(value).__name__} is no list")
    for name in ("tolist", "to_pylist", "to_list"):
        method = getattr(value, name, None)
        if method is not None:
            value = method()
            break
    return list(value)


def _struct_plan(fields: list[pa.Field], *, is_tuple: bool) -> Plan:
    """Return how user-defined types are made of mappings, and tuples of sequences."""
    plans = {field.name: _plan(field) for field in fields}
    kind = pa.struct([(name, kind) for name, (kind, _) in plans.items()])

    def struct(value: Any) -> dict[str, Any]:
        if is_tuple and not isinstance(value, Mapping):
            items = _elements(value)
            if len(items) != len(plans):
                raise ValueError(f"{len(items)} fields, want {len(plans)}")
            value = dict(zip(plans, items))
        if not isinstance(value, Mapping):
            raise TypeError(f"a {type(value).__name__} is no mapping of the fields {list(plans)}")
        unknown = [name for name in value if name not in plans]
        if unknown:
            raise ValueError(f"there is no field {unknown[0]!r}, want some of {list(plans)}")
        return {name: _optional(convert, value.get(name)) for name, (_, convert) in plans.items()}

    return kind, struct


def _same(value: Any) -> Any:
    return value


def _uuid(value: Any) -> Any:
    """Return the bytes of a UUID."""
    if isinstance(value, str):
        value = uuid.UUID(value)
    return value.bytes if isinstance(value, uuid.UUID) else value


def _string(value: Any) -> Any:
    """Return a text. By the option vecql.uuid a UUID is one."""
    if isinstance(value, uuid.UUID):
        return str(value)
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} is no text")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"a {type(value).__name__} is no bytes")
    return bytes(value)


def _integer(value: Any) -> int:
    """Return an integer. pyarrow would cut a number with a fraction."""
    if not isinstance(value, float):
        return operator.index(value)
    if not value.is_integer():
        raise TypeError(f"{value} is no integer")
    return int(value)


def _float(value: Any) -> Any:
    """Return a number that rounds to a float of 32 bits."""
    if isinstance(value, float) and abs(value) >= BEYOND_FLOAT and not math.isinf(value):
        raise OverflowError(f"{value} exceeds a float")
    return value


def _instant(value: Any) -> Any:
    """Return the millisecond of an instant. Without a time zone it is in UTC."""
    if not isinstance(value, datetime.datetime):
        return value
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.timezone.utc)
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def _date(value: Any) -> Any:
    """Return a date: of an instant the day in UTC."""
    if not isinstance(value, datetime.datetime):
        return value
    return (value if value.tzinfo is None else value.astimezone(datetime.timezone.utc)).date()


_CONVERSIONS: list[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]]] = [
    (pa.types.is_fixed_size_binary, _uuid),
    (pa.types.is_string, _string),
    (pa.types.is_binary, _bytes),
    (pa.types.is_integer, _integer),
    (pa.types.is_float32, _float),
    (pa.types.is_timestamp, _instant),
    (pa.types.is_date32, _date),
]
