#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Makes a test of a document: every ```cpp block in it must compile.

    snippets.py DOCUMENT.md OUTPUT.cc

Each block gets a namespace of its own, with `using namespace weft`. Comments in
the document, which a reader does not see, say what else a block needs:

    <!-- #include "weft/task/task.h" -->   an include for the whole document
    <!-- body -->         the next block is the body of a coroutine
    <!-- continues -->    the next block goes on in the last one's namespace
    <!-- needs: CODE -->  CODE stands before the next block (one line or more)
    <!-- wrong -->        the next block shows what not to do, and is left out
    <!-- runs: CODE -->   a test runs CODE, which uses the last block

Lines of a block that start with #include are moved to the top.
"""

import re
import sys

_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.S)
_BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.S | re.M)


def _pieces(text):
    """The comments and blocks of a document, in order, with their lines."""
    found = [(m.start(), "comment", m.group(1)) for m in _COMMENT.finditer(text)]
    found += [(m.start(), "block", m.group(1)) for m in _BLOCK.finditer(text)]
    for start, kind, content in sorted(found):
        yield text.count("\n", 0, start) + 1, kind, content


def translate(text, name):
    """The source for the document `text`, called `name`."""
    includes = []
    namespaces = []
    body = continues = wrong = False
    needs = ""
    for line, kind, content in _pieces(text):
        if kind == "comment":
            if content.startswith("#include"):
                includes += content.splitlines()
            elif content.startswith("needs:"):
                needs += content[len("needs:"):].strip() + "\n"
            elif content.startswith("runs:"):
                namespaces[-1] += "TEST(Line%d, Runs) {\n%s\n}\n" % (
                    line, content[len("runs:"):].strip())
            elif content == "body":
                body = True
            elif content == "continues":
                continues = True
            elif content == "wrong":
                wrong = True
            continue
        code = []
        for source_line in content.splitlines():
            target = includes if source_line.startswith("#include") else code
            target.append(source_line)
        block = "\n".join(code)
        if body:
            block = "Task<> Body() {\n" + block + "\nco_return;\n}"
        # g++ takes what is not in the main file for a header, and warns of it.
        place = '#if defined(__clang__)\n#line %d "%s"\n#endif\n' % (line + 1, name)
        block = needs + place + block + "\n"
        if not wrong:
            if continues and namespaces:
                namespaces[-1] += block
            else:
                namespaces.append(block)
        body = continues = wrong = False
        needs = ""

    includes.append('#include "gtest/gtest.h"')
    out = sorted(set(includes), key=includes.index) + [
        "#if defined(__clang__)",
        '#pragma clang diagnostic ignored "-Wunused-function"',
        '#pragma clang diagnostic ignored "-Wunused-variable"',
        "#else",
        '#pragma GCC diagnostic ignored "-Wunused-function"',
        '#pragma GCC diagnostic ignored "-Wunused-variable"',
        "#endif",
        "namespace weft {}",
    ]
    for number, code in enumerate(namespaces, 1):
        out.append("namespace snippet_%d {\nusing namespace weft;" % number)
        out.append(code + "}  // namespace snippet_%d" % number)
    return "\n".join(out) + "\n"


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    with open(arguments[1], encoding="utf-8") as document:
        text = document.read()
    with open(arguments[2], "w", encoding="utf-8") as output:
        output.write(translate(text, arguments[1]))


if __name__ == "__main__":
    main(sys.argv)
