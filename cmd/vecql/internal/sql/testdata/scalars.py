#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes scalars.json: expressions with DuckDB's values, in the form of functions.json. Needs the package duckdb."""

import itertools
import json

import duckdb

TEXTS = ["''", "'armchair'", "'  a b '", "'日本語日'", "'xyxabcyx'", "'it''s'", "null::varchar"]
CHARS = ["''", "'x'", "'xy'", "'日a'", "' '", "null::varchar"]
ANGLES = ["0", "0.5", "-0.5", "1", "-1", "2.25", "100", "null::double"]
INTEGERS = ["0", "1", "-1", "12", "-18", "35", "4000000000", "null::bigint"]
PATTERNS = ["''", "'%'", "'a%'", "'%m_h%'", "'___'", "'日%'", "null::varchar"]

expressions = [f"{name}({s}, {chars})" for name in ("trim", "ltrim", "rtrim") for s in TEXTS for chars in CHARS]
expressions += [f"trim({side} {chars} from {s})" for side in ("", "both", "leading", "trailing") for s in TEXTS[1:5] for chars in CHARS[1:4]]
expressions += [f"trim({side} from {s})" for side in ("both", "leading", "trailing") for s in TEXTS]
expressions += [f"substring({s} {part})" for s in TEXTS for part in ("from 2", "from 2 for 3", "for 2", "from 3 for 0", "from 100 for 1")]
expressions += [f"repeat({s}, {n})" for s in TEXTS for n in ("0", "1", "3", "-1", "null::bigint")]
expressions += [f"translate({s}, {a}, {b})" for s in TEXTS for a, b in (("'ax'", "'AX'"), ("'abx'", "'1'"), ("''", "'a'"), ("'日本'", "'ni'"))]
expressions += [f"md5({s})" for s in TEXTS] + [f"bit_length({s})" for s in TEXTS]
expressions += [f"{name}({x})" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "degrees", "radians",
                                            "cbrt", "cot", "gamma", "lgamma", "isnan", "isinf", "isfinite") for x in ANGLES]
expressions += [f"{name}('{x}'::double)" for name in ("isnan", "isinf", "isfinite") for x in ("nan", "inf", "-inf")]
expressions += [f"{name}({x}, {y})" for name in ("gcd", "lcm") for x, y in itertools.product(INTEGERS, INTEGERS)]
BITS = ["0", "1", "6", "-1", "-8", "4000000000", "null::bigint"]
expressions += [f"{x}::bigint {op} {y}::bigint" for op in ("&", "|") for x, y in itertools.product(BITS, BITS)] + [f"xor({x}::bigint, {y}::bigint)" for x in BITS for y in BITS]
expressions += [f"{x}::bigint {op} {n}" for op in ("<<", ">>") for x in BITS if op == ">>" or "-" not in x for n in ("0", "1", "5", "40", "62")] + [f"~({x}::bigint)" for x in BITS]
expressions += ["6 & 3 + 1", "6 | 1 << 2", "(6 & 3) = 2", "6 & 3 = 2", "1 << 2 + 1", "16 >> 1 >> 1", "~1 + 1", "5 between 4 | 1 and 7 & 6"]
expressions += [f"atan2({x}, {y})" for x, y in itertools.product(ANGLES, ANGLES)] + ["pi()", "log(2, 8)", "log(10, 0.01)", "log(3, 81)", "mod(7, 3)", "mod(-7, 4)"]
expressions += [f"make_date({y}, {m}, {d})" for y in ("1969", "2000", "2023", "2024", "null::bigint") for m in ("0", "1", "2", "12", "13") for d in ("0", "1", "28", "29", "31")]
expressions += [f"{s} {op} {p}" for s in TEXTS for p in PATTERNS for op in ("like", "not ilike")]
expressions += [f"regexp_matches({s}, 'A', '{o}')" for s in ("'a'", "'A'", "'b'") for o in ("i", "c", "ic", "ci", "cis", "s")]
expressions += [f"regexp_replace({s}, 'A', '-', '{o}')" for s in ("'aAa'", "'b'") for o in ("g", "gi", "gic", "gci")]
expressions += [f"'{s}' glob '{g}'" for s in ("]", "3]", "a", "!", "[a", "[]", "]b") for g in ("[]3][]]", "[]]", "[!]]", "[!a]", "[a", "[]a]*", "[!]a]*", "*[[]*")]
expressions += ["trim(both from 'xyaxy', 'xy')", "trim(leading from 'xya', 'yx')", "1 not null", "null not null", "'1.5'::double precision", "'-0'::utinyint", "'-00'::ubigint",
                "'2024-05-06 07:08:09+02'::timestamp with time zone = timestamptz '2024-05-06 05:08:09+00'", "'2024-05-06'::timestamp without time zone = timestamp '2024-05-06'"]
expressions += ["null is null", "null is not null", "null = null", "null < null", "(null <> 1) is null", "not null", "null in (null, 1)",
                "null between null and 1", "coalesce(null, 1)", "(null and true) is null", "null + null is null"]

db, cases = duckdb.connect(), []
for text in dict.fromkeys(expressions):
    try:
        value = db.execute(f"select cast({text} as varchar)").fetchone()[0]
    except (duckdb.OutOfRangeException, duckdb.InvalidInputException, duckdb.ConversionException):
        value = "error"
    except duckdb.Error as e:
        print(text, e)
        continue
    cases.append({"sql": text, "value": "nan" if value == "-nan" else value})
with open("scalars.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")
