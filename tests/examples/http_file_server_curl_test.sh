#!/bin/bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# The file server and curl: a large file and many small ones arrive whole, its
# metrics are shown, and no way of writing a path leads out of the root.
#
#   http_file_server_curl_test.sh SERVER
#
# WEFT_BIG_MIB and WEFT_SMALL_FILES say how much.

set -euo pipefail

server=$1
big_mib=${WEFT_BIG_MIB:-16}
small_files=${WEFT_SMALL_FILES:-300}

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/weft_curl.XXXXXX")
pid=
cleanup() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# A root with files, and a secret beside it.
mkdir -p "$work/root/small"
head -c "$((big_mib << 20))" /dev/urandom >"$work/root/big"
awk -v n="$small_files" -v folder="$work/root/small" 'BEGIN {
  for (i = 0; i < n; ++i) {
    file = sprintf("%s/%05d", folder, i)
    printf "" >file
    for (j = 0; j < i % 1000; ++j) print i, j >file
    close(file)
  }
}'
echo "the secret" >"$work/secret"
ln -s ../secret "$work/root/relative_link"
ln -s "$work/secret" "$work/root/absolute_link"
ln -s .. "$work/root/folder_link"

"$server" --root="$work/root" --port=0 --metrics=metrics >"$work/out" 2>"$work/err" &
pid=$!
until [ -s "$work/out" ]; do
  kill -0 "$pid" || fail "the server does not start: $(cat "$work/err")"
  sleep 0.05
done
line=$(head -n 1 "$work/out")
url=${line#listening on }
[[ $line =~ ^listening\ on\ http://127\.0\.0\.1:[0-9]+/$ ]] ||
  fail "unexpected first line: $line"

# A large file.
curl -sSf -o "$work/big" "${url}big"
cmp "$work/root/big" "$work/big" || fail "the large file differs"
curl -sSf -o "$work/part" -r 1000-99999 "${url}big"
cmp <(head -c 100000 "$work/root/big" | tail -c +1001) "$work/part" ||
  fail "a part of the large file differs"

# Many small ones, over kept connections.
mkdir "$work/small"
for file in "$work"/root/small/*; do
  name=${file##*/}
  printf 'url = "%ssmall/%s"\noutput = "%s/small/%s"\n' \
    "$url" "$name" "$work" "$name"
done >"$work/config"
curl -sSf -K "$work/config" -w '%{num_connects}\n' >"$work/connects"
(cd "$work/root/small" && sha256sum -- *) >"$work/sums"
(cd "$work/small" && sha256sum --quiet -c "$work/sums") ||
  fail "small files differ"
connects=$(awk '{ n += $1 } END { print n }' "$work/connects")
[ "$connects" = 1 ] || fail "curl needed $connects connections"

# The server's own numbers.
curl -sSf -D "$work/head" "${url}metrics" >"$work/metrics"
grep -q '^Content-Type: text/plain; version=0.0.4' "$work/head" ||
  fail "the metrics have another type"
grep -q '^weft_executor_polls_total{runner="0"} [1-9]' "$work/metrics" ||
  fail "the metrics tell of no polls"

# Each name that the listing links to can be fetched.
listed=$(curl -sSf "${url}small/" | grep -c '<li><a href="[0-9]*">')
count=$(find "$work/root/small" -type f | wc -l)
[ "$listed" = "$count" ] || fail "$listed files are listed"

# Ways out of the root.
forms=(
  ../secret /../secret ./../secret small/../../secret small/../../../secret
  %2e%2e/secret %2e%2e%2fsecret ..%2fsecret .%2e/secret %2E%2E%2Fsecret
  %252e%252e/secret %252e%252e%252fsecret ..%252fsecret
  ..%5csecret '..\secret' ..%255csecret '\..\secret' small%5c..%5c..%5csecret
  %00../secret ..%00/secret ../secret%00 ../secret%00.html small%00/../../secret
  "$work/secret" "/$work/secret" "%2f$work/secret" "%2F..%2Fsecret"
  //../secret //secret ..//secret ....//secret ..\;/secret
  %c0%ae%c0%ae/secret ..%c0%afsecret %uff0e%uff0e/secret
  relative_link absolute_link folder_link/secret folder_link/ folder_link
  relative_link/ '?/../secret' 'small/?../../secret' '#/../../secret'
)
for form in "${forms[@]}"; do
  curl -sS --path-as-is -o "$work/answer" -w '%{http_code}' "$url$form" \
    >"$work/code" || fail "no answer to $form"
  ! grep -q "the secret" "$work/answer" || fail "$form leads out of the root"
  case "$form $(cat "$work/code")" in
    *\?*\ 200 | *\#*\ 200 | *\ 400 | *\ 404) ;;
    *) fail "$form: $(cat "$work/code")" ;;
  esac
done
curl -sSf -o "$work/part" "${url}small/" || fail "the server has stopped"

kill -TERM "$pid"
wait "$pid" || fail "exit code $?"
pid=
[ "$(wc -l <"$work/out")" = 1 ] || fail "more than one line of output"
echo "PASSED: $big_mib MiB, $count small files, ${#forms[@]} ways out"
