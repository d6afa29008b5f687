# SPDX-License-Identifier: Apache-2.0

"""The wheel contains a shared library and no module of C: it is for a platform, and for any version of Python."""

import pathlib

from elftools.elf.elffile import ELFFile
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

LIBRARY = pathlib.Path(__file__).resolve().parent / "adbc_driver_vecql" / "libadbc_driver_vecql.so"

# The libraries of glibc, which every system of the platform has.
SYSTEM = {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "librt.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# The machines, and the oldest glibc for which pip has a platform.
MACHINES = {"x64": ("x86_64", (2, 5)), "AArch64": ("aarch64", (2, 17))}


def platform(library: pathlib.Path) -> str:
    """Return the platform of a shared library for Linux (PEP 600): the first glibc with all its symbols, the machine."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        machine, first = MACHINES[elf.get_machine_arch()]
        needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
        symbols = [name.name for _, names in elf.get_section_by_name(".gnu.version_r").iter_versions() for name in names]
    if needed - SYSTEM:
        raise SystemExit(f"{library.name} needs {', '.join(sorted(needed - SYSTEM))}: build it with glibc alone")
    versions = [name[len("GLIBC_"):].split(".") for name in symbols if name.startswith("GLIBC_")]
    major, minor = max(first, *((int(v[0]), int(v[1])) for v in versions))
    return f"manylinux_{major}_{minor}_{machine}"


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", platform(LIBRARY) if LIBRARY.exists() else super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
