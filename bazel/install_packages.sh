#!/bin/sh
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Installs Debian packages by name; says what it does, asks for root only when
# it has to. On a system without apt it prints what to install and fails.
#
#   bazel/install_packages.sh PACKAGE...

set -eu

say() { echo "weft: $*" >&2; }

say "not installed yet: $*"
if ! command -v apt-get >/dev/null 2>&1; then
  say "this system has no apt-get; please install by hand what these Debian packages hold:"
  for package in "$@"; do say "  $package"; done
  exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    say "there is no sudo; please run as root:"
    say "  apt-get install --no-install-recommends $*"
    exit 1
  fi
  as_root="sudo"
fi

export DEBIAN_FRONTEND=noninteractive
say "installing with: ${as_root:+$as_root }apt-get install --no-install-recommends $*"
install() {
  $as_root apt-get install -y -q --no-install-recommends "$@" </dev/null >&2
}
# The package lists may be there already; a fresh machine has none.
if ! install "$@" 2>/dev/null; then
  $as_root apt-get update -q </dev/null >&2
  install "$@" || {
    say "could not install; needed are, from Debian 12 or later: $*"
    exit 1
  }
fi
