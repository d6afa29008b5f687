# SPDX-License-Identifier: Apache-2.0

"""Writes statements with DuckDB's rows, whose values are texts. Statements that DuckDB refuses are printed and left out."""

import json

import duckdb


def write(path, texts, db):
    answered = []
    for text in texts:
        try:
            rows = db.execute(text).fetchall()
        except duckdb.Error as e:
            print(text, e)
            continue
        answered.append({"sql": text, "rows": [[cell(v) for v in row] for row in rows]})
    with open(path, "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join(json.dumps(s, ensure_ascii=False) for s in answered) + "\n]\n")


def cell(v):
    if isinstance(v, bool):
        return str(v).lower()
    return None if v is None else str(v)
