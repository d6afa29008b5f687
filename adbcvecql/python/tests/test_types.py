# SPDX-License-Identifier: Apache-2.0

"""Tests of the type hints: mypy --strict on the packages and on a program that uses them."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

if importlib.util.find_spec("mypy") is None:
    pytest.skip("mypy is not installed", allow_module_level=True)

FOLDER = pathlib.Path(__file__).resolve().parent.parent

PROGRAM = """
from typing import Any, Optional

from adbc_driver_cassandra import dbapi as other
from adbc_driver_vecql import dbapi
from adbc_driver_vecql.search import search

with dbapi.connect("cassandra://127.0.0.1/shop") as conn, conn.cursor() as cur:
    reveal_type(conn)
    row: Optional[tuple[Any, ...]] = cur.execute("SELECT 1", [1]).fetchone()
    n: int = cur.adbc_ingest("items", None, primary_key="id")
    reveal_type(other.connect("cassandra://127.0.0.1"))
    table = search(conn, "items", [[0.5]], k=3)
dbapi.connect(7)
cur.adbc_ingest("items", None, primary_key=7)
"""


def mypy(*arguments):
    command = [sys.executable, "-m", "mypy", "--config-file", str(FOLDER / "pyproject.toml"), "--no-error-summary", *arguments]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)


def test_packages_are_typed(tmp_path):
    done = mypy("--cache-dir", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_are_checked(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = mypy("--cache-dir", str(tmp_path / "cache"), str(program))
    lines = [line.partition("program.py:")[2] for line in done.stdout.splitlines() if ": note: " not in line or "Revealed" in line]
    assert [line.split(":")[0] for line in lines] == ["9", "12", "14", "15"], done.stdout + done.stderr
    assert all("adbc_driver_vecql.dbapi.Connection" in line for line in lines[:2]), lines
    assert all("incompatible type" in line for line in lines[2:]), lines
