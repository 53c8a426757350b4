#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Shows that a stranger on a fresh Debian 12 machine needs nothing but a clone:
# makes such a machine in a folder, clones the last commit into it, and runs the
# README's two commands there.
#
#   sudo tests/fresh_machine.sh [FOLDER]
#
# FOLDER (default: a temporary one) is removed at the end unless it was given;
# one that holds a machine from an earlier run is used again. Needs root,
# debootstrap, a Debian mirror (WEFT_DEBIAN_MIRROR), 4 GB, and about 15 minutes
# on 2 cores. It is no Bazel test: it installs packages.

set -euo pipefail

readonly mirror="${WEFT_DEBIAN_MIRROR:-http://deb.debian.org/debian}"
repository=$(cd "$(dirname "$0")/.." && pwd)
readonly repository

if [ "$(id -u)" != 0 ]; then
  echo "$0: needs root (debootstrap, mount, chroot)" >&2
  exit 2
fi
if [ "${WEFT_FRESH_INNER:-}" = "" ]; then
  command -v debootstrap >/dev/null || "$repository/bazel/install_packages.sh" debootstrap

  machine=${1:-$(mktemp -d /var/tmp/weft-fresh.XXXXXX)}
  # Mounts and processes of the machine are gone when this ends, however it does.
  status=0
  WEFT_FRESH_INNER=1 unshare --mount --pid --fork --kill-child \
    "$0" "$machine" || status=$?
  [ -n "${1:-}" ] || rm -rf "$machine"
  exit "$status"
fi

machine=$1
say() { echo "--- $(date +%T) $*"; }
inside() {
  chroot "$machine" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

if [ ! -e "$machine/etc/debian_version" ]; then
  say "debootstrap"
  debootstrap --variant=minbase bookworm "$machine" "$mirror" >/dev/null || {
    tail -20 "$machine/debootstrap/debootstrap.log"
    exit 1
  }
fi
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"
cp /etc/resolv.conf "$machine/etc/resolv.conf"

say "clone"
rm -rf "$machine/root/weft"
git -c safe.directory="*" clone -q --no-hardlinks "$repository" "$machine/root/weft"

# Waits for the line the server prints first, and asks it for a file.
serve() {
  inside sh -c 'cd /root/weft && exec ./bazelw run //examples:http_file_server -- --root=. --port=0' \
    </dev/null >"$machine/root/server.out" &
  local server=$! url=""
  while [ -z "$url" ]; do
    sleep 1
    url=$(sed -n 's/^listening on //p' "$machine/root/server.out")
    kill -0 "$server" 2>/dev/null || {
      echo "the server ended:"
      cat "$machine/root/server.out"
      return 1
    }
  done
  echo "serves on $url"
  inside curl -sSf "${url}README.md" | cmp - "$machine/root/weft/README.md"
  kill "$server"
  wait "$server" || true
}

say "./bazelw run //examples:http_file_server -- --root=. --port=0"
serve
say "./bazelw test //..."
inside sh -c 'cd /root/weft && ./bazelw test //...' </dev/null
inside sh -c 'cd /root/weft && ./bazelw shutdown' </dev/null
say "passed"
