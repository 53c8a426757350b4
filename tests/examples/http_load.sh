#!/bin/bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# The file server under load; by hand, since it takes two minutes and a quiet
# machine.
#
#   tests/examples/http_load.sh [SERVER]
#
# Compares a file of 1 GiB and 10,000 small ones by checksum, then prints the
# errors of wrk, memory before and after a minute of load, and the processor
# time of an idle minute's tenth. Exits 0 if all is as it must be.

set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in wrk curl; do
  command -v "$tool" >/dev/null || bazel/install_packages.sh "$tool"
done
server=${1:-}
if [ -z "$server" ]; then
  ./bazelw build --config=opt //examples:http_file_server
  server=bazel-bin/examples/http_file_server
fi

echo "== 1 GiB and 10,000 files"
WEFT_BIG_MIB=1024 WEFT_SMALL_FILES=10000 \
  tests/examples/http_file_server_curl_test.sh "$server"

work=$(mktemp -d)
pid=
cleanup() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
mkdir "$work/root"
head -c 4096 /dev/urandom >"$work/root/4k"
head -c 1048576 /dev/urandom >"$work/root/1m"
for i in $(seq 1 1000); do echo "$i" >"$work/root/$i.txt"; done
"$server" --root="$work/root" --port=0 >"$work/out" 2>/dev/null &
pid=$!
until [ -s "$work/out" ]; do sleep 0.1; done
url=$(sed 's/^listening on //' "$work/out")

failed=0
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"; }
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
load() { # PATH SECONDS
  wrk -t2 -c64 -d"$2"s "$url$1" >"$work/wrk" || failed=1
  grep -E 'Latency|Requests/sec|Transfer/sec' "$work/wrk"
  if grep -E 'Socket errors|Non-2xx' "$work/wrk"; then
    failed=1
  else
    echo "  errors: none"
  fi
}

for path in 4k 1m ""; do
  echo "== wrk -t2 -c64 -d10s /$path"
  load "$path" 10
done

before=$(resident)
echo "== a minute of load; memory before: $before KiB"
load 4k 60
after=$(resident)
echo "memory after: $after KiB"
[ "$after" -lt 65536 ] || failed=1
[ "$after" -lt $((before + before / 5 + 1024)) ] || failed=1

sleep 1
ticks_before=$(ticks)
sleep 6
idle=$(($(ticks) - ticks_before))
echo "== idle: $idle ticks of processor time in 6 seconds"
[ "$idle" -le 1 ] || failed=1

kill -TERM "$pid"
wait "$pid" || failed=1
pid=
[ "$failed" = 0 ] && echo "== as it must be" || echo "== NOT as it must be"
exit "$failed"
