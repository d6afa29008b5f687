# SPDX-License-Identifier: Apache-2.0

"""Measures one driver on one table, in Go's benchmark format: see run.sh.

The clock runs from before the connection to the finished frame, or to the last written row. Imports are not counted.
After the clock has stopped, the cells are compared with the rows of the file; those of a written table are read by vecql.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import sys
import time
from typing import Any

import drivers
import rows

KEYSPACE = "bench_adbc"
IMPORTS = {
    "vecql": ["adbc_driver_vecql.dbapi"], "adbc-cassandra": ["adbc_driver_manager.dbapi"],
    "cassandra-driver": ["cassandra.cluster", "cassandra.concurrent"],
    "cassandra-driver-numpy": ["cassandra.cluster", "cassandra.protocol"],
}


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("verb", choices=["create", "fill", "read", "write"])
    p.add_argument("--driver", choices=list(drivers.DRIVERS), default="vecql")
    p.add_argument("--frame", choices=drivers.FRAMES, default="polars")
    p.add_argument("--table", choices=list(rows.SCHEMAS), default="vectors")
    p.add_argument("--rows", type=int, default=1000)
    p.add_argument("--host", required=True, help="host:port")
    p.add_argument("--server", default="cassandra", help="its name in the results")
    p.add_argument("--server-pid", type=int, help="its process, whose processor time is measured with that of its children")
    p.add_argument("--dir", required=True, help="folder of the rows")
    return p.parse_args()


class Clock:
    """Wall time, and the processor time of this process and of the server."""

    def __init__(self, server: int | None) -> None:
        self.server_pid = server

    def __enter__(self) -> Clock:
        self.server, self.cpu, self.wall = self.used_by(self.server_pid), self.used(), time.perf_counter()
        return self

    def __exit__(self, *_: Any) -> None:
        self.wall, self.cpu = time.perf_counter() - self.wall, self.used() - self.cpu
        self.server = self.used_by(self.server_pid) - self.server
        self.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    @staticmethod
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    @classmethod
    def used_by(cls, pid: int | None) -> float:
        """Return the processor time of a process and its children, from /proc."""
        if pid is None:
            return 0
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        for task in os.listdir(f"/proc/{pid}/task"):  # any thread may have started a child
            with open(f"/proc/{pid}/task/{task}/children") as children:
                used += sum(cls.used_by(int(child)) for child in children.read().split())
        return used


def report(a: argparse.Namespace, clock: Clock) -> None:
    name = f"BenchmarkADBC/driver={a.driver}/verb={a.verb}/frame={a.frame}/rows={a.table}/server={a.server}"
    n = a.rows
    server = f"{clock.server / n * 1e6:.3f} server-cpu-us/op\t" if a.server_pid else ""
    print(f"{name}\t{n}\t{clock.wall / n * 1e9:.1f} ns/op\t{n / clock.wall:.0f} rows/s\t{clock.cpu / n * 1e6:.4f} cpu-us/op\t{server}"
          f"{clock.peak:.0f} peak-MB", flush=True)


def create(admin: drivers.Vecql, name: str, table: str) -> None:
    admin.execute(f"DROP TABLE IF EXISTS {KEYSPACE}.{name}", f"CREATE TABLE {KEYSPACE}.{name} ({rows.COLUMNS[table]})")


def check(got: Any, want: Any) -> None:
    if difference := rows.differences(got, want):
        sys.exit(f"measure.py: {' '.join(sys.argv[1:])}: {difference}")


def read(a: argparse.Namespace) -> None:
    want = rows.expected(a.dir, a.table, a.rows)
    driver = drivers.DRIVERS[a.driver](a.host, KEYSPACE)
    query = f"SELECT {', '.join(want.column_names)} FROM {a.table}_{a.rows}"
    with Clock(a.server_pid) as clock:
        frame = driver.read(a.frame, query, want.schema)
    check(drivers.as_arrow(a.frame, frame, want.schema), want)
    report(a, clock)


def write(a: argparse.Namespace, name: str, drop: bool) -> Clock:
    want = rows.expected(a.dir, a.table, a.rows)
    admin = drivers.Vecql(a.host, KEYSPACE)
    create(admin, name, a.table)
    driver = drivers.DRIVERS[a.driver](a.host, KEYSPACE)
    frame = importlib.import_module("polars").from_arrow(want)
    with Clock(a.server_pid) as clock:
        driver.write(frame, name)
    check(admin.table(f"SELECT {', '.join(want.column_names)} FROM {name}"), want)
    if drop:
        admin.execute(f"DROP TABLE {name}")
    return clock


def main() -> None:
    a = arguments()
    for module in IMPORTS[a.driver] + [a.frame]:
        importlib.import_module(module)
    if a.verb == "create":
        drivers.Vecql(a.host, "").execute(
            f"DROP KEYSPACE IF EXISTS {KEYSPACE}",
            f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    elif a.verb == "fill":
        write(a, f"{a.table}_{a.rows}", drop=False)
    elif a.verb == "read":
        read(a)
    else:
        report(a, write(a, f"{a.table}_written", drop=True))


if __name__ == "__main__":
    main()
