# SPDX-License-Identifier: Apache-2.0
"""Records the values that pyarrow reads from Parquet files, for corpus_test.go.

    corpus.py expect CHECKOUT > parquet-testing.jsonl
        CHECKOUT is a clone of https://github.com/apache/parquet-testing; reads its data, bad_data and shredded_variant.
    corpus.py values CHECKOUT FILE COLUMN
        prints a column's values, one row per line, to find differences.
    corpus.py write DIRECTORY
        writes the files of testdata/pyarrow, and their values to DIRECTORY.jsonl.

A line of the output is one file. A column has a type and a digest of the texts of all values (SHA-256, the first 16 bytes); columns of
written files also have the first three texts. Texts are: null; true, false; integers; floats as the hexadecimal digits of their bits; dates, times
and timestamps as integers in their unit; decimals in full; strings, text or not, in quotes, with bytes outside printable ASCII as \\xNN; lists
and structs as [a,b]; maps as [[key,value],[key,value]]. Strings of more than 1000 bytes are sha256:digest:length. Columns that pyarrow cannot
read have an error.
"""

import decimal
import glob
import hashlib
import json
import math
import os
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pyarrow.types as pt

PRINTABLE = {b: chr(b) for b in range(0x20, 0x7F)}
PRINTABLE[ord('"')] = '\\"'
PRINTABLE[ord("\\")] = "\\\\"

BITS = {"halffloat": (pa.uint16(), 4), "float": (pa.uint32(), 8), "double": (pa.uint64(), 16)}


def quote(b):
    if len(b) > 1000:
        return f"sha256:{hashlib.sha256(b).hexdigest()}:{len(b)}"
    return '"' + "".join(PRINTABLE.get(c) or f"\\x{c:02x}" for c in b) + '"'


def plain(a):
    """Returns the texts of an array that is not nested. Texts of NULLs are arbitrary."""
    t = a.type
    if str(t) in BITS:
        unsigned, digits = BITS[str(t)]
        return [v if v is None else f"{v:0{digits}x}" for v in a.view(unsigned).to_pylist()]
    if pt.is_boolean(t):
        return ["true" if v else "false" for v in a.to_pylist()]
    if pt.is_integer(t):
        return [str(v) for v in a.to_pylist()]
    if pt.is_date32(t) or pt.is_time32(t):
        return [str(v) for v in a.view(pa.int32()).to_pylist()]
    if pt.is_time64(t) or pt.is_timestamp(t):
        return [str(v) for v in a.view(pa.int64()).to_pylist()]
    if pt.is_decimal(t):
        return [v if v is None else format(v, "f") for v in a.to_pylist()]
    if pt.is_string(t) or pt.is_binary(t) or pt.is_large_string(t) or pt.is_large_binary(t) or pt.is_fixed_size_binary(t):
        return [quote(v.as_buffer().to_pybytes()) if v.is_valid else None for v in a]
    raise TypeError(f"no texts of {t}")


def texts(a):
    """Returns the texts of an array's values."""
    t = a.type
    if isinstance(a, pa.ExtensionArray):
        return texts(a.storage)
    if pt.is_null(t):
        return ["null"] * len(a)
    if pt.is_dictionary(t):
        return texts(a.dictionary_decode())
    if pt.is_struct(t):
        out = ["[" + ",".join(v) + "]" for v in zip(*(texts(a.field(i)) for i in range(t.num_fields)))]
    elif pt.is_map(t):
        entries = [f"[{k},{v}]" for k, v in zip(texts(a.keys), texts(a.items))]
        out = lists(a.offsets.to_pylist(), entries)
    elif pt.is_list(t) or pt.is_large_list(t):
        out = lists(a.offsets.to_pylist(), texts(a.values))
    elif pt.is_fixed_size_list(t):
        n = t.list_size
        out = lists([i * n for i in range(a.offset, a.offset + len(a) + 1)], texts(a.values))
    else:
        out = plain(a)
    return [v if valid else "null" for v, valid in zip(out, a.is_valid().to_pylist())]


def lists(offsets, entries):
    return ["[" + ",".join(entries[a:b]) + "]" for a, b in zip(offsets, offsets[1:])]


def kind(t):
    """Returns the text of a type, in the form of corpus_test.go."""
    if isinstance(t, pa.BaseExtensionType):
        return kind(t.storage_type)
    if pt.is_dictionary(t):
        return kind(t.value_type)
    if pt.is_struct(t):
        return "struct<" + ",".join(f"{t.field(i).name}:{kind(t.field(i).type)}" for i in range(t.num_fields)) + ">"
    if pt.is_map(t):
        return f"map<{kind(t.key_type)},{kind(t.item_type)}>"
    if pt.is_list(t) or pt.is_large_list(t) or pt.is_fixed_size_list(t):
        return f"list<{kind(t.value_type)}>"
    if pt.is_decimal(t):
        return f"decimal({t.precision},{t.scale})"
    if pt.is_timestamp(t):
        return f"timestamp({t.unit}{', UTC' if t.tz else ''})"
    if pt.is_time(t):
        return f"time({t.unit})"
    if pt.is_fixed_size_binary(t):
        return f"fixed({t.byte_width})"
    names = {"halffloat": "float16", "float": "float32", "double": "float64", "date32[day]": "date"}
    names |= {"large_string": "string", "large_binary": "binary"}
    return names.get(str(t), str(t))


def column_texts(column):
    out = []
    for chunk in column.chunks:
        out += texts(chunk)
    return out


KEYS = {16: b"0123456789012345", 32: b"01234567890123456789012345678901"}


def open_file(path, **options):
    if path.endswith(".encrypted"):
        # pyarrow takes keys of columns only through a KMS, which these files do not use.
        key = KEYS[32 if "aes256" in path else 16]
        prefix = b"tester" if "disable_aad_storage" in path else None
        options["decryption_properties"] = pe.create_decryption_properties(key, aad_prefix=prefix)
    return pq.ParquetFile(path, **options)


def reason(e):
    return type(e).__name__ + ": " + str(e).split("\n")[0][:100]


def read(f, name):
    """Returns a column as a ChunkedArray."""
    try:
        values = f.read(columns=[name], use_threads=False).column(name)
    except pa.ArrowNotImplementedError:  # more strings than an array holds
        values = pa.chunked_array([batch.column(0) for batch in f.iter_batches(1, columns=[name])])
    values.validate(full=True)
    return values


def expect(root, name, checksums=True, first=0):
    """Returns the content of a file according to pyarrow. Reads columns one by one, because single columns may be broken."""
    out = {"file": name}
    if not checksums:
        out["unchecked"] = True
    try:
        f = open_file(os.path.join(root, name), page_checksum_verification=checksums)
        fields = list(f.schema_arrow)
    except (pa.ArrowException, OSError) as e:
        out["error"] = reason(e)
        return out
    out["rows"] = sum(f.metadata.row_group(i).num_rows for i in range(f.metadata.num_row_groups))
    out["columns"] = []
    for field in fields:
        column = {"name": field.name}
        out["columns"].append(column)
        try:
            values = read(f, field.name)
        except (pa.ArrowException, OSError) as e:
            column["error"] = reason(e)
            continue
        if len(values) != out["rows"]:
            column["error"] = f"{len(values)} rows"
            continue
        rows = column_texts(values)
        column["type"] = kind(values.type)
        column["digest"] = hashlib.sha256("".join(r + "\n" for r in rows).encode()).hexdigest()[:32]
        if first:
            column["first"] = [r if len(r) <= 80 else r[:80] + "..." for r in rows[:first]]
    return out


def corpus(root):
    patterns = ["data/*.parquet", "data/*/*.parquet", "data/*.encrypted", "data/*/*.encrypted"]
    patterns += ["bad_data/*.parquet", "shredded_variant/*.parquet"]
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            name = os.path.relpath(path, root)
            yield expect(root, name)
            if "corrupt-checksum" in name:
                yield expect(root, name, checksums=False)


def own_tables():
    """Returns tables and options of writing, for small files with features that differ between writers."""
    inf, nan = math.inf, math.nan
    n = 40
    some = [None if i % 7 == 3 else i for i in range(n)]
    floats = [0.0, -0.0, inf, -inf, nan, 1.5, -2.25, 5e-324]
    words = [None if i % 5 == 1 else ["", "a", "bc", "\u00e9\U0001f680", "x" * 70][i % 5] for i in range(n)]
    paths = [f"/usr/share/{'doc' if i % 3 else 'man'}/{i // 4:03d}/{i}" for i in range(n)]
    numbers = pa.table({
        "i8": pa.array(some, pa.int8()), "i16": pa.array(some, pa.int16()),
        "i32": pa.array(some, pa.int32()), "i64": pa.array(some, pa.int64()),
        "u8": pa.array(some, pa.uint8()), "u16": pa.array(some, pa.uint16()),
        "u32": pa.array(some, pa.uint32()), "u64": pa.array(some, pa.uint64()),
        "far": pa.array([(-1) ** i * (2**63 - 1 - i) for i in range(n)], pa.int64()),
        "b": pa.array([None if v is None else v % 3 == 0 for v in some], pa.bool_()),
        "f16": pa.array([struct.unpack("<e", struct.pack("<e", floats[i % 8]))[0] for i in range(n)], pa.float16()),
        "f32": pa.array([floats[i % 8] for i in range(n)], pa.float32()),
        "f64": pa.array([None if i % 9 == 4 else floats[i % 8] for i in range(n)], pa.float64()),
    })
    times = pa.table({
        "date": pa.array(some, pa.date32()), "t_ms": pa.array(some, pa.time32("ms")), "t_us": pa.array(some, pa.time64("us")),
        "t_ns": pa.array(some, pa.time64("ns")), "ms": pa.array(some, pa.timestamp("ms", "UTC")), "us": pa.array(some, pa.timestamp("us")),
        "ns": pa.array([v and (-1) ** v * 10**18 + v for v in some], pa.timestamp("ns", "UTC")),
    })
    dec = [None if v is None else decimal.Decimal((-1) ** v * v * 12345).scaleb(-2) for v in some]
    wide = [None if v is None else decimal.Decimal((-1) ** v * (10**37 + v)).scaleb(-5) for v in some]
    widest = [None if v is None else decimal.Decimal((-1) ** v * (10**75 + v)).scaleb(-9) for v in some]
    decimal.getcontext().prec = 80
    decimals = pa.table({
        "d7": pa.array(dec, pa.decimal128(9, 2)), "d18": pa.array(dec, pa.decimal128(18, 2)), "d38": pa.array(wide, pa.decimal128(38, 5)),
        "d76": pa.array(widest, pa.decimal256(76, 9)),
    })
    text = pa.table({
        "s": pa.array(words), "b": pa.array([w and w.encode() for w in words], pa.binary()), "paths": pa.array(paths),
        "f5": pa.array([f"{i:05d}".encode() for i in range(n)], pa.binary(5)),
        "id": pa.array([bytes([i]) * 16 for i in range(n)], pa.binary(16)),
    })
    inner = pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.list_(pa.string())), pa.field("c", pa.float64(), nullable=False)])
    value = lambda i: None if i % 6 == 5 else {"a": some[i % n], "b": [words[j] for j in range(i % 4)] if i % 3 else None, "c": i / 4}
    nested = pa.table({
        "l": pa.array([None if i % 8 == 2 else [some[j] for j in range(i % 5)] for i in range(n)], pa.list_(pa.int64())),
        "ll": pa.array([[None if j == 1 else list(range(j)) for j in range(i % 4)] for i in range(n)], pa.list_(pa.list_(pa.int16()))),
        "st": pa.array([value(i) for i in range(n)], inner),
        "lst": pa.array([[value(i + j) for j in range(i % 3)] for i in range(n)], pa.list_(inner)),
        "m": pa.array([None if i % 9 == 1 else [(f"k{j}", some[(i + j) % n]) for j in range(i % 3)] for i in range(n)],
                      pa.map_(pa.string(), pa.int64())),
        "mm": pa.array([[(j, [(str(j), True)] * j) for j in range(i % 3)] for i in range(n)],
                       pa.map_(pa.int32(), pa.map_(pa.string(), pa.bool_()))),
        "v": pa.array([None if i % 10 == 9 else [i, -i, 0.5] for i in range(n)], pa.list_(pa.float32(), 3)),
        "nothing": pa.nulls(n), "no_list": pa.array([[] for i in range(n)], pa.list_(pa.null())),
    })
    empty = numbers.slice(0, 0)
    types = {"i": pa.int32(), "s": pa.string(), "l": pa.list_(pa.int8()), "d": pa.decimal128(20, 1)}
    nulls = pa.table({name: pa.nulls(n, t) for name, t in types.items()})
    v1, v2 = {"data_page_version": "1.0"}, {"data_page_version": "2.0"}
    tiny = {"data_page_size": 40, "write_batch_size": 4, "row_group_size": 23}
    without = {"use_dictionary": False}
    stream = {c: "BYTE_STREAM_SPLIT" for c in ["i32", "i64", "far", "f16", "f32", "f64"]}
    delta = {c: "DELTA_BINARY_PACKED" for c in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "far"]}
    yield "numbers-plain", numbers, {**v1, **without, **tiny, "compression": "none"}
    yield "numbers-dictionary", numbers, {**v2, **tiny, "compression": "snappy"}
    yield "numbers-delta", numbers, {**v2, **without, "compression": "gzip", "column_encoding": {**delta, "b": "RLE"}}
    yield "numbers-streams", numbers, {**v1, **without, "compression": "zstd", "column_encoding": stream}
    yield "times", times, {**v2, "compression": "lz4"}
    yield "times-int96", times.select(["us", "ns"]), {**v1, "compression": "brotli", "use_deprecated_int96_timestamps": True}
    yield "decimals", decimals, {**v1, **tiny, "compression": "none"}
    yield "decimals-integers", decimals, {**v2, **without, "compression": "lz4", "store_decimal_as_integer": True}
    yield "text-dictionary", text, {**v1, **tiny, "compression": "brotli"}
    yield "text-delta", text, {**v2, **without, "compression": "zstd", "column_encoding": {
        "s": "DELTA_LENGTH_BYTE_ARRAY", "b": "DELTA_BYTE_ARRAY", "paths": "DELTA_BYTE_ARRAY", "f5": "DELTA_BYTE_ARRAY",
        "id": "BYTE_STREAM_SPLIT"}}
    yield "nested", nested, {**v1, **tiny, "compression": "none"}
    yield "nested-v2", nested, {**v2, **tiny, "compression": "snappy", "use_compliant_nested_type": False}
    yield "checksums", text, {**v2, **tiny, "compression": "gzip", "write_page_checksum": True}
    yield "empty", empty, {**v1}
    yield "nulls-v2", nulls, {**v2, "compression": "zstd"}


def write(directory):
    os.makedirs(directory, exist_ok=True)
    names = []
    for name, table, options in own_tables():
        # Without Arrow's schema, so that readers use the Parquet schema alone.
        pq.write_table(table, os.path.join(directory, name + ".parquet"), store_schema=False, write_statistics=False, **options)
        names.append(name + ".parquet")
    with open(directory.rstrip("/") + ".jsonl", "w") as out:
        for name in names:
            print(json.dumps(expect(directory, name, first=3), separators=(",", ":")), file=out)


def main(args):
    if args[:1] == ["expect"] and len(args) == 2:
        for entry in corpus(args[1]):
            print(json.dumps(entry, separators=(",", ":")))
    elif args[:1] == ["values"] and len(args) == 4:
        for row in column_texts(read(open_file(os.path.join(args[1], args[2])), args[3])):
            print(row)
    elif args[:1] == ["write"] and len(args) == 2:
        write(args[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
