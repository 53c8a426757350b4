#!/bin/bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# An example program prints what it should, and nothing else.
#
#   output_test.sh PROGRAM LINE...

set -euo pipefail

program=$1
shift
output=$("$program")
diff <(printf '%s\n' "$@") <(printf '%s\n' "$output")
