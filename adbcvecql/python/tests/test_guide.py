# SPDX-License-Identifier: Apache-2.0

"""Runs the examples of docs/python.md, in order. VECQL_URI names a cluster and a keyspace."""

import contextlib
import io
import os
import pathlib
import re

import pytest

from adbc_driver_vecql import dbapi

for name in ("numpy", "polars", "pandas", "duckdb"):
    pytest.importorskip(name)

GUIDE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md").read_text(encoding="utf-8")
HOSTS = "cassandra://127.0.0.1"


def blocks():
    """Yield each example with its line, and the text that it prints."""
    found = list(re.finditer(r"^```(\w+)\n(.*?)^```$", GUIDE, re.M | re.S))
    for block, after in zip(found, [*found[1:], None]):
        if block[1] == "python":
            prints = after is not None and after[1] == "text"
            yield GUIDE.count("\n", 0, block.start()) + 1, block[2], after[2] if prints else ""


def test_examples():
    hosts = os.environ["VECQL_URI"].rpartition("/")[0]
    names = {}
    count = 0
    for line, source, want in blocks():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = compile("\n" * line + source.replace(HOSTS, hosts), "docs/python.md", "exec")
            exec(code, names)  # noqa: S102: the examples are ours
        assert out.getvalue() == want, f"docs/python.md:{line}"
        count += 1
    assert count > 10


def test_options():
    """Each option of the tables exists."""
    with dbapi.connect(os.environ["VECQL_URI"]) as conn, conn.cursor() as cur:
        options = set(re.findall(r"`(vecql\.[a-z_.]+)`", GUIDE))
        assert len(options) > 20
        for option in options:
            objects = (conn.adbc_database, conn.adbc_connection, cur.adbc_statement)
            assert any(has(of, option) for of in objects), option


def has(of, option):
    try:
        of.get_option(option)
    except dbapi.Error:
        return False
    return True
