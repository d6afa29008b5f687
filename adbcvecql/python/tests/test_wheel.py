# SPDX-License-Identifier: Apache-2.0

"""Tests of the wheel that VECQL_WHEEL names, which is installed. VECQL_URI names a cluster and a keyspace."""

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

import pytest

import adbc_driver_vecql
from adbc_driver_vecql import dbapi

if "VECQL_WHEEL" not in os.environ:
    pytest.skip("VECQL_WHEEL is not set: see make test-wheel", allow_module_level=True)

WHEEL = pathlib.Path(os.environ["VECQL_WHEEL"]).resolve()


def glibc(text):
    """Return the version of glibc that the tag of a platform names."""
    return tuple(int(part) for part in re.search(r"manylinux_(\d+)_(\d+)_", text).groups())


def test_library_is_of_the_wheel():
    assert pathlib.Path(adbc_driver_vecql.library()).is_relative_to(sys.prefix)


def test_tag_is_true():
    """The tag is the one of auditwheel, whose policies skip some versions of glibc."""
    show = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(WHEEL)], capture_output=True, text=True, check=True).stdout
    versions = [glibc(tag) for tag in re.findall(r'"(manylinux_\d+_\d+_\w+)"', show)]
    assert versions, show
    assert glibc(WHEEL.name) <= versions[0], show


def test_version():
    with dbapi.connect(os.environ["VECQL_URI"]) as conn:
        info = conn.adbc_get_info()
    assert importlib.metadata.version("adbc-driver-vecql") == WHEEL.name.split("-")[1] == info["driver_version"]
    files = {str(file) for file in importlib.metadata.files("adbc-driver-vecql")}
    for name in ("adbc_driver_vecql/py.typed", "adbc_driver_vecql/libadbc_driver_vecql.so", "adbc_driver_cassandra/dbapi.py"):
        assert name in files


def test_license():
    """The wheel has the license of the repository."""
    [file] = [file for file in importlib.metadata.files("adbc-driver-vecql") if file.name == "LICENSE"]
    assert re.fullmatch(r"adbc_driver_vecql-[0-9.]+\.dist-info/licenses/LICENSE", str(file))
    assert file.read_text() == pathlib.Path(__file__).resolve().parents[3].joinpath("LICENSE").read_text(encoding="utf-8")
    assert importlib.metadata.metadata("adbc-driver-vecql")["License-Expression"] == "Apache-2.0"
