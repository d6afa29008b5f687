#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds cassandra-driver with its parsers in Cython, among them that for NumPy, which its wheels do not have:
# bench/adbc/cassandra_driver.sh PYTHON FOLDER. The environment of PYTHON has NumPy. Its pure Python modules, such as the
# connections, are not compiled: that takes an hour instead of minutes.
set -euo pipefail
python=$1 folder=$2
requirement=$(grep '^cassandra-driver' "$(dirname "$0")/requirements.txt")
"$python" -m pip install --quiet setuptools wheel cython
"$python" -m pip download --quiet --no-deps --no-build-isolation --no-binary cassandra-driver --dest "$folder" "$requirement"
tar xzf "$folder"/cassandra_driver-*.tar.gz -C "$folder" --strip-components 1
# The list of these modules is two lines of setup.py.
sed -i "/^ *cython_candidates = \[/,/\]$/c\\                cython_candidates = []" "$folder/setup.py"
"$python" -m pip install --quiet --no-deps --force-reinstall --no-build-isolation "$folder"
