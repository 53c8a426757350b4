# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Each convention of house_lint: a file it must reject, and one it must accept."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, "tools")
import house_lint  # noqa: E402

LICENCE = "// Copyright 2026 The weft Authors\n// SPDX-License-Identifier: Apache-2.0\n\n"


class HouseLintTest(unittest.TestCase):

    def setUp(self):
        # A repository of two headers, for the checks that look at other files.
        self._folder = tempfile.TemporaryDirectory()
        self._root = house_lint.ROOT
        house_lint.ROOT = self._folder.name
        os.makedirs(os.path.join(house_lint.ROOT, "net/internal"))
        for name in ("net/a.h", "net/b.h", "net/internal/c.h"):
            with open(os.path.join(house_lint.ROOT, name), "w", encoding="utf-8"):
                pass

    def tearDown(self):
        house_lint.ROOT = self._root
        self._folder.cleanup()

    def rules(self, path, text, licence=LICENCE):
        return [rule for _, _, rule, _ in house_lint.check_file(path, licence + text)]

    def test_licence(self):
        self.assertEqual(self.rules("net/x.cc", "int a;\n"), [])
        self.assertEqual(self.rules("net/x.cc", "int a;\n", licence=""), ["licence"])
        script = "#!/bin/sh\n" + LICENCE.replace("//", "#")
        self.assertEqual(self.rules("x.sh", "a\n", licence=script), [])
        self.assertEqual(self.rules("x", "a\n", licence="#!/bin/sh\n"), ["licence"])
        self.assertEqual(self.rules("x.md", "a\n", licence=""), [])

    def test_guard(self):
        good = "#ifndef WEFT_NET_A_H_\n#define WEFT_NET_A_H_\n\n#endif  // WEFT_NET_A_H_\n"
        self.assertEqual(self.rules("net/a.h", good), [])
        self.assertEqual(self.rules("net/a.h", good.replace("  // WEFT_NET_A_H_", "")), ["guard"])
        self.assertEqual(self.rules("net/a.h", good.replace("WEFT_NET", "NET")), ["guard"])
        self.assertEqual(self.rules("net/a.h", "#pragma once\n"), ["guard", "guard"])
        deep = good.replace("NET_A", "NET_INTERNAL_C")
        self.assertEqual(self.rules("net/internal/c.h", deep), [])

    def test_names_of_system_headers(self):
        good = "#ifndef WEFT_NET_IF_H_\n#define WEFT_NET_IF_H_\n#endif  // WEFT_NET_IF_H_\n"
        self.assertEqual(self.rules("net/if.h", good), ["name"])

    def test_include_spelling(self):
        for line, wanted in (
                ('#include "weft/net/a.h"', []),
                ('#include "weft/net/internal/c.h"', []),
                ('#include <net/if.h>', []),
                ('#include "absl/time/time.h"', []),
                ('#include "net/a.h"', ["include"]),
                ('#include <net/a.h>', ["include"]),
                ('#include "a.h"', ["include"]),
                ('#include "../net/a.h"', ["include"]),
                ('#include <weft/net/a.h>', ["include"]),
                ('#include "weft/net/none.h"', ["include"]),
        ):
            self.assertEqual(self.rules("net/x.cc", line + "\n"), wanted, line)

    def test_own_header_first(self):
        first = '#include "weft/net/a.h"\n'
        other = '#include "weft/net/b.h"\n'
        for path in ("net/a.cc", "tests/net/a_test.cc"):
            self.assertEqual(self.rules(path, first + other), [])
            self.assertEqual(self.rules(path, other + first), ["include"])

    def test_memory_orders(self):
        line = "  x.load(std::memory_order_acquire);\n"
        self.assertEqual(self.rules("net/x.cc", "\n" * 9 + line), ["order"])
        self.assertEqual(self.rules("net/x.cc", "\n" * 9 + "  // Pairs with Set().\n" + line), [])
        self.assertEqual(self.rules("net/x.cc", "\n" * 9 + line.rstrip() + "  // Set().\n"), [])
        self.assertEqual(self.rules("net/x.cc", "\n" * 9 + line.replace("acquire", "seq_cst")), [])
        self.assertEqual(self.rules("tests/net/x_test.cc", "\n" * 9 + line), [])

    def test_sleep(self):
        self.assertEqual(self.rules("tests/net/x_test.cc", "usleep(1);\n"), ["sleep"])
        self.assertEqual(self.rules("tests/net/x_test.cc", "absl::SleepFor(d);\n"), ["sleep"])
        self.assertEqual(self.rules("net/x.cc", "usleep(1);\n"), [])
        self.assertEqual(self.rules("tests/net/x_test.cc", "// usleep(1)\n"), [])

    def test_allowances(self):
        allowed = "// house-lint: allow(sleep): the kernel tells nobody.\n"
        self.assertEqual(self.rules("tests/net/x_test.cc", allowed + "usleep(1);\n"), [])
        self.assertEqual(
            self.rules("tests/net/x_test.cc", allowed + "// More.\nusleep(1);\n"), [])
        self.assertEqual(
            self.rules("tests/net/x_test.cc", allowed + "int a;\nusleep(1);\n"), ["sleep"])

    def test_unfinished(self):
        self.assertEqual(self.rules("net/x.cc", "// TO" + "DO: more\n"), ["unfinished"])
        self.assertEqual(self.rules("docs/x.md", "FIX" + "ME\n", licence=""), ["unfinished"])
        self.assertEqual(
            self.rules("tests/net/x_test.cc", "TEST(A, DISABLED" + "_B) {}\n"), ["unfinished"])

    def test_documents_name_what_exists(self):
        os.makedirs(os.path.join(house_lint.ROOT, "tests"))
        with open(os.path.join(house_lint.ROOT, "tests/a_test.cc"), "w", encoding="utf-8") as file:
            file.write("TEST(ATest, Holds) {}\nWEFT_TEST(BTest, Holds) {}\n")
        for line, wanted in (
                ("See `net/a.h`, `weft/net/b.h` and `tests/a_test.cc`.", []),
                ("Not `net/if.h`, nor `<package>/<file>.h`.", []),
                ("See `net/none.h`.", ["docs"]),
                ("Shown by `ATest.Holds` and `BTest.Holds`.", []),
                ("Shown by `ATest.Fails`.", ["docs"]),
        ):
            self.assertEqual(self.rules("docs/x.md", line + "\n", licence=""), wanted, line)

    def test_build_files(self):
        comment = "# Sockets. Uses io.\n"
        self.assertEqual(self.rules("net/BUILD", "weft_cc_library(\n", licence=comment), [])
        self.assertEqual(self.rules("net/BUILD", "", licence="load(x)\n"), ["build"])
        licence = LICENCE.replace("//", "#")
        self.assertEqual(self.rules("net/BUILD", comment, licence=licence), [])
        self.assertEqual(self.rules("net/BUILD", "load(x)\n", licence=licence), ["build"])
        self.assertEqual(self.rules("net/BUILD", "cc_library(\n", licence=comment), ["build"])
        self.assertEqual(self.rules("net/BUILD", "  srcs = glob(x),\n", licence=comment), ["build"])
        self.assertEqual(self.rules("bazel/BUILD", "cc_library(\n", licence=comment), [])


if __name__ == "__main__":
    unittest.main()
