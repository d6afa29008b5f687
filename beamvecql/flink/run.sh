#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Starts Beam's job server with a Flink inside its process, on the loopback interface, and runs until it is ended:
#   run.sh CACHE PORT
# CACHE is a folder for the list of jars, which Maven fetches once. A Beam program runs on it with
#   --runner=universal --endpoint=127.0.0.1:PORT --environment_type=LOOPBACK
# Java 17 and Maven are needed. The process takes at most 2 GB.
set -euo pipefail
cd "$(dirname "$0")"
cache=${1:?folder for the list of jars} port=${2:?port of the job server}
mkdir -p "$cache"
jars=$cache/jars-$(cksum <pom.xml | tr ' ' '-')
if [ ! -s "$jars" ]; then
	mvn -B -q -f pom.xml dependency:build-classpath -Dmdep.outputFile="$jars.new"
	mv "$jars.new" "$jars"
fi
opens=()
for package in java.util java.lang java.nio; do opens+=("--add-opens=java.base/$package=ALL-UNNAMED"); done
exec java -Xmx1g -XX:MaxDirectMemorySize=512m "${opens[@]}" -cp "$(cat "$jars")" org.apache.beam.runners.flink.FlinkJobServerDriver \
	--flink-master='[local]' --flink-conf-dir="$PWD/conf" --job-host=127.0.0.1 --job-port="$port" --artifact-port=0 --expansion-port=0 --clean-artifacts-per-job
