#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Finds coroutine code that compilers get wrong, or that dangles.

  weft_lint.py [--rules] [FILE_OR_FOLDER...]

Without arguments it reads every C++ file that git knows in the current folder.
One file without dependencies: copy it into your project. It prints

  FILE:LINE: RULE: what is wrong and what to write instead

and exits 1 if it printed anything. docs/coroutine-rules.md explains the rules;
`--rules` lists those that are checked. A line that is right all the same says
so, with a reason, on itself or in the comment right above:

  // weft-lint: allow(R4): the closure outlives the task, see below.

or, for a whole file, `weft-lint: allow-file(R4): the reason`.

It reads tokens, not types, so it is sure of what it can see (where a co_await
stands) and guesses the rest (whether a struct is an aggregate). Of a #if with
#else it reads the first branch; macro definitions it does not read.
"""

import argparse
import os
import re
import subprocess
import sys

RULES = {
    "R1": "an aggregate with a non-trivial member is a coroutine's parameter",
    "R2": "a coroutine's parameter has a default of `= {}`",
    "R3": "a lambda that captures by value in an expression with co_await",
    "R4": "a coroutine lambda captures",
    "R6": "a braced list or statement expression in an expression with co_await",
    "R7": "a fold over co_await",
    "R8": "a co_await in the operand of another co_await",
    "R9": "a structured binding initialised by co_await",
    "R10": "a thread_local variable in a coroutine",
    "R12": "await_suspend is always inlined",
    "R15": "an over-aligned local in a coroutine",
    "R17": "final_suspend does not suspend",
    "R19": "a lock is held over a suspension",
    "R21": "co_await in an operand of &&, || or ?: (R5 included)",
    "R22": "a lambda that captures by reference, or `this`, is spawned",
}

SUFFIXES = (".h", ".hh", ".hpp", ".cc", ".cpp", ".cxx", ".ipp")

# Functions that keep the callable they are given until its coroutine is gone.
OWNERS = {
    "Finally",
    "InScope",
    "Invoke",
    "Shielded",
    "Spawn",
    "SpawnAt",
    "SpawnBorrowing",
    "SpawnByKey",
    "SpawnLocal",
    "SpawnOn",
    "SpawnWhenRoom",
    "Start",
    "WithCleanup",
}

# Those of them whose task may outlive what a lambda refers to.
SPAWNS = {"Spawn", "SpawnAt", "SpawnByKey", "SpawnLocal", "SpawnWhenRoom"}

# Functions that return only when the future they are given is done.
WAITS = {"BlockOn", "Run"}

# Class templates whose functions are coroutines by what they return.
COROUTINE_TYPES = {"Generator", "Task"}

# Types that are not trivially destructible; a guess, for R1.
NON_TRIVIAL = {
    "AnyInvocable", "JoinHandle", "Status", "StatusOr", "Task", "any", "deque",
    "flat_hash_map", "flat_hash_set", "function", "list", "map", "optional",
    "set", "shared_ptr", "string", "unique_ptr", "unordered_map",
    "unordered_set", "vector",
}

LOCKS = {
    "MutexLock", "ReaderMutexLock", "WriterMutexLock", "lock_guard",
    "scoped_lock", "shared_lock", "unique_lock",
}

# --- Tokens ------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\n)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<delim>[^()\\\s]{0,16})\(.*?\)(?P=delim)")
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<ident>[A-Za-z_]\w*)
  | (?P<punct><=>|\.\.\.|->\*|<<=|>>=|::|->|\+\+|--|&&|\|\||<<|<=|>=|==|!=
      |\+=|-=|\*=|/=|%=|&=|\|=|\^=|.)
    """,
    re.X | re.S,
)


class Token:
    """One token: text, kind (ident, number, string, char, punct), line."""

    __slots__ = ("text", "kind", "line")

    def __init__(self, text, kind, line):
        self.text = text
        self.kind = kind
        self.line = line


class Group:
    """A bracketed part: the tokens and groups between (), [] or {}.

    kind of a {}: "lambda", "function", "class" (struct, union, enum), "scope"
    (namespace, extern "C"), "block" (inside a function), "list" (braced list).
    """

    __slots__ = ("open", "line", "children", "kind", "role", "owned", "text")

    def __init__(self, opening, line):
        self.open = opening
        self.line = line
        self.children = []
        self.kind = None
        self.role = None  # "captures" or "params" of a lambda
        self.owned = False  # the arguments of one of OWNERS
        self.text = ""  # so that node.text works on both


def blank_preprocessor(source):
    """Returns the source with directives and second #if branches blanked."""
    lines = source.split("\n")
    skipping = []  # per open #if: whether the current branch is left out
    in_directive = False
    in_comment = False
    for number, line in enumerate(lines):
        word = ""
        if not in_directive and not in_comment:
            match = re.match(r"\s*#\s*(\w+)", line)
            word = match.group(1) if match else ""
        directive = in_directive or bool(word)
        if word in ("if", "ifdef", "ifndef"):
            skipping.append(False)
        elif word in ("else", "elif") and skipping:
            skipping[-1] = True
        elif word == "endif" and skipping:
            skipping.pop()
        if directive:
            in_directive = line.endswith("\\")
        else:
            in_comment = _ends_in_comment(line, in_comment)
        if directive or any(skipping):
            lines[number] = ""
    return "\n".join(lines)


def _ends_in_comment(line, inside):
    """Whether a /* comment is open after the line."""
    while True:
        if inside:
            end = line.find("*/")
            if end < 0:
                return True
            line = line[end + 2:]
            inside = False
        start = re.search(r'//|/\*|"(?:\\.|[^"\\])*"', line)
        if not start or start.group() == "//":
            return False
        line = line[start.end():]
        inside = start.group() == "/*"


def tokenize(source):
    """Returns (tokens, {line: comment text})."""
    tokens = []
    comments = {}
    line = 1
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, match.group()
        if kind == "delim":
            kind = "raw"
        if kind == "comment":
            for offset, part in enumerate(text.split("\n")):
                comments[line + offset] = comments.get(line + offset, "") + part
        elif kind != "space":
            tokens.append(Token(text, "string" if kind == "raw" else kind, line))
        line += text.count("\n")
    return tokens, comments


_CLOSING = {")": "(", "]": "[", "}": "{"}


def build_tree(tokens):
    """Returns the file as a Group of nested groups; tolerates imbalance."""
    root = Group("{", 1)
    root.kind = "scope"
    stack = [root]
    for token in tokens:
        if token.kind == "punct" and token.text in "([{":
            group = Group(token.text, token.line)
            stack[-1].children.append(group)
            stack.append(group)
        elif token.kind == "punct" and token.text in _CLOSING:
            opening = _CLOSING[token.text]
            if any(group.open == opening for group in stack[1:]):
                while stack.pop().open != opening:
                    pass
        else:
            stack[-1].children.append(token)
    classify(root)
    return root


# --- What each bracket is ----------------------------------------------------

_BEFORE_EXPRESSION = {
    "case", "co_await", "co_return", "co_yield", "do", "else", "return", "throw",
}
_BEFORE_BLOCK = {
    "const", "do", "else", "final", "mutable", "noexcept", "override", "try",
    "volatile",
}
_CLASS_KEYS = {"class", "enum", "struct", "union"}


def is_group(node, opening):
    return isinstance(node, Group) and node.open == opening


def is_ident(node):
    return isinstance(node, Token) and node.kind == "ident"


def _is_lambda_start(nodes, index):
    """Whether the [] at index introduces a lambda."""
    group = nodes[index]
    if len(group.children) == 1 and is_group(group.children[0], "["):
        return False  # an attribute
    if index == 0:
        return True
    before = nodes[index - 1]
    if isinstance(before, Group):
        # After [[attribute]] or a block; x()[i] and x[i][j] are subscripts.
        return before.open == "{"
    if before.kind in ("ident", "string"):
        return before.text in _BEFORE_EXPRESSION
    if before.text in ("&", "&&"):
        # auto& [a, b]
        return not (index > 1 and nodes[index - 2].text == "auto")
    return True


def _mark_lambda(nodes, index):
    """Marks the parts of the lambda whose captures are at index."""
    position = index + 1
    if position < len(nodes) and nodes[position].text == "<":
        depth = 0
        while position < len(nodes):
            depth += {"<": 1, ">": -1, ">>": -2}.get(nodes[position].text, 0)
            position += 1
            if depth <= 0:
                break
    params = None
    if position < len(nodes) and is_group(nodes[position], "("):
        params = nodes[position]
        position += 1
    depth = 0
    while position < len(nodes):
        node = nodes[position]
        if is_group(node, "{"):
            node.kind = "lambda"
            nodes[index].role = "captures"
            if params is not None:
                params.role = "params"
            return
        depth += {"<": 1, ">": -1, ">>": -2}.get(node.text, 0)
        if node.text in (";", "=") or (node.text == "," and depth <= 0):
            return
        position += 1


def _statement_start(nodes, index):
    """Index of the first node of the statement that holds nodes[index]."""
    while index > 0:
        before = nodes[index - 1]
        if before.text == ";" or (is_group(before, "{") and before.kind not in ("list", "lambda")):
            break
        index -= 1
    return index


def _brace_kind(nodes, index, parent):
    """What the {} at index is, if it is not a lambda's body."""
    inside = "block" if parent.kind in ("function", "lambda", "block") else "function"
    if parent.open != "{" or parent.kind == "list":
        return "list"
    head = nodes[_statement_start(nodes, index):index]
    words = [node.text for node in head if is_ident(node)]
    if "namespace" in words or (head and head[0].text == "extern" and len(head) == 2):
        return "scope"
    if not head:
        return inside
    before = head[-1]
    has_params = any(is_group(node, "(") for node in head)
    if _CLASS_KEYS & set(words) and "=" not in [node.text for node in head]:
        key = next(i for i, node in enumerate(head) if node.text in _CLASS_KEYS)
        if not any(is_group(node, "(") for node in head[key + 1:] if node is not before):
            if not is_group(before, "("):
                return "class"
    if is_group(before, "("):
        owner = head[-2].text if len(head) > 1 else ""
        return "list" if owner in ("decltype", "alignas") else inside
    if is_group(before, "{"):
        return inside  # after a member initializer: a_{1} {
    if isinstance(before, Group):
        return "list"  # int a[]{…}
    if before.text in _BEFORE_BLOCK or before.text == ":":
        return inside
    if before.text in ("&", "&&") and has_params:
        return inside  # void F() && {
    arrows = [i for i, node in enumerate(head) if node.text == "->"]
    if arrows and is_group(head[arrows[-1] - 1], "(") and (
            before.kind == "ident" or before.text in (">", ">>", "*", "&")):
        return inside  # auto F() -> Type {
    return "list"


def classify(group):
    """Sets the kind of every {} below the group, and the lambdas' parts."""
    nodes = group.children
    for index, node in enumerate(nodes):
        if is_group(node, "[") and _is_lambda_start(nodes, index):
            _mark_lambda(nodes, index)
    for index, node in enumerate(nodes):
        if is_group(node, "{") and node.kind is None:
            node.kind = _brace_kind(nodes, index, group)
        if isinstance(node, Group):
            if node.open == "(" and index > 0:
                node.owned = nodes[index - 1].text in OWNERS
            if node.open == "(" and _is_statement_expression(nodes, index):
                node.children[0].kind = "block"
            classify(node)


def _is_statement_expression(nodes, index):
    """Whether the () at index is a GNU ({ … }), not an argument list."""
    children = nodes[index].children
    if len(children) != 1 or not is_group(children[0], "{"):
        return False
    if not any(node.text == ";" for node in children[0].children):
        return False
    return index == 0 or not is_ident(nodes[index - 1]) or (
        nodes[index - 1].text in _BEFORE_EXPRESSION)


# --- Statements and expressions ----------------------------------------------

_SUSPENDS = {"co_await", "co_yield"}
_COROUTINE = {"co_await", "co_return", "co_yield"}


def find_words(nodes, words):
    """Yields the tokens among `words`, not looking into bodies."""
    for node in nodes:
        if isinstance(node, Token):
            if node.text in words and node.kind == "ident":
                yield node
        elif node.open != "{" or node.kind == "list":
            yield from find_words(node.children, words)


def find_words_in_body(body, words):
    """Yields the tokens among `words` of one function, nested blocks included."""
    for node in body.children:
        if isinstance(node, Token):
            if node.text in words and node.kind == "ident":
                yield node
        elif node.kind not in ("lambda", "class"):
            yield from find_words_in_body(node, words)


def has_await(nodes):
    return any(True for _ in find_words(nodes, {"co_await"}))


def split(nodes, separators):
    part = []
    for node in nodes:
        if node.text in separators:
            yield part
            part = []
        else:
            part.append(node)
    yield part


def full_expressions(body):
    """Yields the full expressions directly in a block, as lists of nodes."""
    statement = []
    for node in body.children:
        ends = node.text == ";" or (
            is_group(node, "{") and node.kind not in ("list", "lambda"))
        if not ends:
            statement.append(node)
            continue
        yield from _split_headers(statement)
        statement = []
    yield from _split_headers(statement)


def _split_headers(statement):
    """Separates `if (…)`, `for (…)` and the like from what they govern."""
    while statement:
        word = statement[0].text
        if word in ("else", "do"):
            statement = statement[1:]
            continue
        if word not in ("if", "while", "for", "switch"):
            break
        index = next((i for i, node in enumerate(statement) if is_group(node, "(")), None)
        if index is None:
            break
        yield from split(statement[index].children, {";"})
        statement = statement[index + 1:]
    if statement:
        yield statement


def all_groups(group):
    yield group
    for node in group.children:
        if isinstance(node, Group):
            yield from all_groups(node)


# --- The rules ---------------------------------------------------------------


class Linter:
    """Checks files; `aggregates` are known to all of them."""

    def __init__(self):
        self.findings = []  # (path, line, rule, message)
        self._aggregates = set()
        self._files = []

    def add(self, path, source):
        """Reads one file; its findings come with check()."""
        source = blank_preprocessor(source)
        tokens, comments = tokenize(source)
        root = build_tree(tokens)
        self._aggregates |= set(find_aggregates(root))
        self._files.append((path, root, comments))

    def check(self):
        """Returns the sorted findings of all files added."""
        for path, root, comments in self._files:
            found = set()
            for line, rule, message in check_tree(root, self._aggregates):
                if not _allowed(rule, line, comments):
                    found.add((path, line, rule, message))
            self.findings += sorted(found)
        return self.findings


def _allowed(rule, line, comments):
    """Whether the line, the comment right above it, or the file allows the rule."""
    lines = [line]
    while lines[-1] - 1 in comments:
        lines.append(lines[-1] - 1)
    near = " ".join(comments.get(number, "") for number in lines)
    everywhere = " ".join(comments.values())
    allowed = re.findall(r"weft-lint: allow\(([^)]*)\)", near)
    allowed += re.findall(r"weft-lint: allow-file\(([^)]*)\)", everywhere)
    return any(rule in re.split(r"\W+", names) for names in allowed)


def check_tree(root, aggregates):
    """Yields (line, rule, message) of one file."""
    for group in all_groups(root):
        if group.open == "{" and group.kind in ("function", "lambda", "block"):
            for nodes in full_expressions(group):
                yield from check_expression(nodes)
            yield from check_locks(group)
        if group.open == "{" and group.kind in ("function", "lambda"):
            yield from check_body(group)
        yield from check_lambdas(group)
        yield from check_declarations(group, aggregates)
    yield from check_spawns(root)


def check_expression(nodes):
    """Rules about one full expression."""
    yield from check_statement_expressions(nodes)
    if not has_await(nodes):
        return
    yield from check_operators(nodes)
    yield from check_parts(nodes)
    yield from check_nested(nodes)
    text = [node.text for node in nodes]
    for index, node in enumerate(nodes):
        if is_group(node, "[") and node.role is None and "=" in text[index:index + 2]:
            if "auto" in text[max(0, index - 2):index]:
                yield node.line, "R9", (
                    "some compilers skip the destructor here: write "
                    "`auto r = co_await …; auto& […] = r;`")


def check_operators(nodes):
    """R21: a co_await beside &&, || or ? at any level of the expression."""
    for segment in split(nodes, {",", ";"}):
        if not has_await(segment):
            continue
        for index, node in enumerate(segment):
            if node.text in ("?", "||", "or", "and") or (
                    node.text == "&&" and _is_binary(segment, index)):
                yield next(find_words(segment, {"co_await"})).line, "R21", (
                    "co_await in an operand of `{}`: g++ 12 awaits it in any case; "
                    "await into a variable first, or use if".format(
                        "?:" if node.text == "?" else node.text))
                break
        for node in segment:
            if isinstance(node, Group) and node.role != "params" and (
                    node.open != "{" or node.kind == "list"):
                yield from check_operators(node.children)


def _is_binary(nodes, index):
    """Whether the && at index is an operator, not part of a type."""
    before = nodes[index - 1] if index > 0 else None
    after = nodes[index + 1] if index + 1 < len(nodes) else None
    if before is None or after is None or before.text == "auto":
        return False
    if after.text in (">", ",", "=", "...", ">>"):
        return False
    if is_ident(after) and index + 2 < len(nodes) and nodes[index + 2].text in ("=", ":"):
        return False  # T&& x = …, for (T&& x : …)
    return True


def check_parts(nodes):
    """R3, R6, R7: what must not stand beside a co_await."""
    for index, node in enumerate(nodes):
        if not isinstance(node, Group):
            continue
        if node.kind == "list":
            yield node.line, "R6", (
                "braced list in an expression with co_await: g++ destroys its "
                "elements twice or fails; name the value in a statement before")
        if node.role == "captures" and captures_by_value(node):
            yield node.line, "R3", (
                "lambda with by-value captures in an expression with co_await: g++ "
                "destroys the captures twice; name the lambda before, then move it")
        if node.open == "(" and has_await(node.children) and _is_fold(node.children):
            yield node.line, "R7", "fold over co_await: await one after the other instead"
        if node.open != "{" or node.kind == "list":
            if node.role is None:
                yield from check_parts(node.children)


def _is_fold(nodes):
    operators = {"+", "-", "*", "/", "&&", "||", "&", "|", "^", ",", "<<", ">>"}
    for index, node in enumerate(nodes):
        if node.text == "...":
            around = nodes[max(0, index - 1):index] + nodes[index + 1:index + 2]
            at_edge = index in (0, len(nodes) - 1)
            binary = 0 < index < len(nodes) - 1 and (
                nodes[index - 1].text == nodes[index + 1].text)
            if (at_edge or binary) and any(other.text in operators for other in around):
                return True
    return False


def captures_by_value(captures):
    """Whether a [] captures anything but `this` and by reference."""
    for entry in split(captures.children, {","}):
        if entry and entry[0].text not in ("&", "this"):
            return True
    return False


def captures_references(captures):
    """Whether a [] captures by reference, an address, or `this`."""
    for entry in split(captures.children, {","}):
        text = [node.text for node in entry]
        if text[:1] == ["&"] or text == ["this"] or text[1:3] == ["=", "&"]:
            return True
    return False


def check_nested(nodes):
    """R8: co_await f(co_await g())."""
    operand = {"::", ".", "->", "<", ">", ">>", "*", "&", ","}
    for index, node in enumerate(nodes):
        if isinstance(node, Group):
            if node.role is None and (node.open != "{" or node.kind == "list"):
                yield from check_nested(node.children)
        elif node.text == "co_await":
            for after in nodes[index + 1:]:
                if isinstance(after, Group):
                    if after.open == "{" and after.kind != "list":
                        break
                    if has_await(after.children):
                        yield after.line, "R8", (
                            "co_await inside the operand of a co_await: await the "
                            "inner one into a variable first")
                        break
                elif after.kind == "punct" and after.text not in operand:
                    break


def check_statement_expressions(nodes):
    for node in nodes:
        if is_group(node, "{") and node.kind == "block":
            if any(True for _ in find_words_in_body(node, _COROUTINE)):
                yield node.line, "R6", (
                    "statement expression with co_await or co_return: compilers fail "
                    "on it; write the statements out")
        elif isinstance(node, Group) and node.open != "{":
            yield from check_statement_expressions(node.children)


def check_locks(block):
    """R19: a guard declared in the block, and a suspension after it."""
    guards = []  # (name, type)
    nodes = block.children
    for index, node in enumerate(nodes):
        if is_ident(node) and node.text in LOCKS:
            name = _declared_name(nodes, index)
            if name:
                guards.append((name, node.text))
        elif isinstance(node, Token) and node.text in ("unlock", "Release", "reset"):
            if index > 1 and nodes[index - 1].text == ".":
                guards = [guard for guard in guards if guard[0] != nodes[index - 2].text]
        if guards:
            yield from _suspensions(node, guards)


def _declared_name(nodes, index):
    """The name in `lock_guard<…> name(…)`, None if nothing is declared."""
    index += 1
    if index < len(nodes) and nodes[index].text == "<":
        depth = 0
        while index < len(nodes):
            depth += {"<": 1, ">": -1, ">>": -2}.get(nodes[index].text, 0)
            index += 1
            if depth <= 0:
                break
    if index + 1 < len(nodes) and is_ident(nodes[index]):
        after = nodes[index + 1]
        if is_group(after, "(") or is_group(after, "{") or after.text == "=":
            return nodes[index].text
    return None


def _suspensions(node, guards):
    if isinstance(node, Token):
        found = [node] if node.text in _SUSPENDS else []
    elif node.kind in ("lambda", "class"):
        found = []
    else:
        found = find_words_in_body(node, _SUSPENDS)
    for token in found:
        yield token.line, "R19", (
            "`{}` ({}) is held over a suspension: another task on this thread can "
            "deadlock; end its scope before".format(*guards[-1]))


def check_body(body):
    """R10 and R15: what a coroutine must not declare."""
    if not any(True for _ in find_words_in_body(body, _COROUTINE)):
        return
    for token in find_words_in_body(body, {"thread_local"}):
        yield token.line, "R10", (
            "thread_local in a coroutine: it may resume on another thread; read it "
            "through a function that is not inlined")
    for token in find_words_in_body(body, {"alignas"}):
        yield token.line, "R15", (
            "over-aligned local in a coroutine: frames have the default alignment; "
            "allocate it")


def check_lambdas(group):
    """R4: coroutine lambdas with captures among the group's children."""
    nodes = group.children
    for index, node in enumerate(nodes):
        if not (is_group(node, "[") and node.role == "captures" and node.children):
            continue
        body = next(other for other in nodes[index:] if getattr(other, "kind", 0) == "lambda")
        if not any(True for _ in find_words_in_body(body, _COROUTINE)):
            continue
        if group.owned or _is_given_away(nodes, index):
            continue
        yield node.line, "R4", (
            "coroutine lambda with captures: they die with the closure, not with the "
            "coroutine; pass parameters, or give it to Invoke or Spawn")


def check_spawns(group):
    """R22: lambdas that borrow, given to SPAWNS below the group."""
    nodes = group.children
    for index, node in enumerate(nodes):
        if not isinstance(node, Group):
            continue
        called = nodes[index - 1].text if node.open == "(" and index > 0 else ""
        if called in WAITS:
            yield from _check_bodies(node)
            continue
        yield from check_spawns(node)
        if called in SPAWNS:
            yield from _check_spawned(node.children, _named_lambdas(nodes[:index]))


def _check_bodies(group):
    """R22 in the bodies of lambdas that a WAITS is given."""
    for node in group.children:
        if isinstance(node, Group):
            body = node.open == "{" and node.kind != "list"
            yield from (check_spawns if body else _check_bodies)(node)


def _check_spawned(arguments, named):
    """R22 for one call: lambdas as arguments, also inside of Invoke()."""
    for index, node in enumerate(arguments):
        borrows = named.get(node.text, False) if is_ident(node) else (
            is_group(node, "[") and node.role == "captures" and captures_references(node))
        if borrows:
            yield node.line, "R22", (
                "the task may outlive what this lambda captures by reference, and no "
                "check sees it: capture values, or SpawnBorrowing() and wait for its end")
        elif is_group(node, "(") and index > 0 and arguments[index - 1].text in ("Invoke", "move"):
            yield from _check_spawned(node.children, named)


def _named_lambdas(nodes):
    """Whether the lambdas among the nodes that have names borrow, by name."""
    return {nodes[index - 2].text: captures_references(node)
            for index, node in enumerate(nodes)
            if is_group(node, "[") and node.role == "captures" and index > 1
            and nodes[index - 1].text == "="}


def _is_given_away(nodes, index):
    """Whether the lambda at index is named and then given to one of OWNERS."""
    if index < 2 or nodes[index - 1].text != "=" or not is_ident(nodes[index - 2]):
        return False
    rest = Group("{", 0)
    rest.children = nodes[index + 1:]
    return any(group.owned and nodes[index - 2].text in _flatten(group.children)
               for group in all_groups(rest))


def check_declarations(group, aggregates):
    """R1, R2, R12 and R17: function declarators among the group's children."""
    nodes = group.children
    for index, node in enumerate(nodes):
        if not is_group(node, "(") or index == 0 or not is_ident(nodes[index - 1]):
            continue
        name = nodes[index - 1].text
        head = nodes[_statement_start(nodes, index):index - 1]
        words = {other.text for other in head if is_ident(other)}
        if name == "await_suspend" and any("always_inline" in word.lower() for word in _flatten(head)):
            yield node.line, "R12", (
                "await_suspend must not be always inlined: frame writes may move past "
                "the point where the handle is published")
        if name == "final_suspend":
            body = next((other for other in nodes[index:index + 4] if is_group(other, "{")), None)
            inner = _flatten(body.children) if body else []
            if "suspend_never" in words or "suspend_never" in inner:
                yield node.line, "R17", (
                    "final_suspend must suspend: the owner destroys the frame")
        if _returns_coroutine(head):
            yield from check_parameters(node, aggregates)


def _flatten(nodes):
    words = []
    for node in nodes:
        if isinstance(node, Group):
            words += _flatten(node.children)
        else:
            words.append(node.text)
    return words


def _returns_coroutine(head):
    """Whether a declarator's head ends in Task<…> or Class::'s of one."""
    text = [node.text for node in head]
    while len(text) > 1 and text[-1] == "::":
        text = text[:-2]
    if not text or text[-1] not in (">", ">>"):
        return False
    return any(word in COROUTINE_TYPES and text[i + 1:i + 2] == ["<"]
               for i, word in enumerate(text)) and "=" not in text and "return" not in text


def check_parameters(params, aggregates):
    for entry in split(params.children, {","}):
        text = [node.text for node in entry]
        for index, node in enumerate(entry):
            if node.text == "=" and index + 1 < len(entry) and is_group(entry[index + 1], "{"):
                yield node.line, "R2", (
                    "default of `= {}` for a coroutine's parameter: g++ frees it twice; "
                    "write an overload")
        declared = text[:text.index("=")] if "=" in text else text
        named = [word for word in declared[:-1] if word in aggregates]
        pointer = "*" in declared
        mutable_reference = "&" in declared and "const" not in declared
        if named and not pointer and not mutable_reference:
            yield params.line, "R1", (
                "`{}` looks like an aggregate with a non-trivial member: as a "
                "coroutine's parameter g++ frees it twice; give it a constructor".format(named[0]))


def find_aggregates(root):
    """Yields the names of structs that look like aggregates R1 means."""
    for group in all_groups(root):
        nodes = group.children
        for index, node in enumerate(nodes):
            if not (is_group(node, "{") and node.kind == "class"):
                continue
            head = nodes[_statement_start(nodes, index):index]
            text = [other.text for other in head]
            if "struct" not in text or "enum" in text or ":" in text:
                continue
            if "<" in text[text.index("struct"):]:
                continue  # a specialisation: its last word is an argument
            names = [other.text for other in head[text.index("struct") + 1:]
                     if is_ident(other) and other.text != "final"]
            if names and _is_bad_aggregate(node, names[-1]):
                yield names[-1]


def _is_bad_aggregate(body, name):
    nodes = body.children
    non_trivial = False
    for index, node in enumerate(nodes):
        if node.text in ("private", "protected", "virtual"):
            return False
        if node.text == name and index + 1 < len(nodes) and is_group(nodes[index + 1], "("):
            return False  # a constructor
        if is_ident(node) and node.text in NON_TRIVIAL:
            rest = nodes[index:]
            end = next((i for i, other in enumerate(rest) if other.text == ";"), len(rest))
            declaration = rest[:end]
            is_function = any(is_group(other, "(") for other in declaration)
            if not is_function and "*" not in [other.text for other in declaration]:
                non_trivial = True
    return non_trivial


# --- Command line ------------------------------------------------------------


def find_files(paths):
    """Returns the C++ files among and below the paths."""
    if not paths:
        listing = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            stdout=subprocess.PIPE, check=True, universal_newlines=True)
        return sorted(path for path in listing.stdout.split("\n")
                      if path.endswith(SUFFIXES) and os.path.exists(path))
    files = []
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in os.walk(path):
                files += [os.path.join(folder, name) for name in names
                          if name.endswith(SUFFIXES)]
        else:
            files.append(path)
    return sorted(files)


def main():
    parser = argparse.ArgumentParser(description="Checks coroutine code; see the file's comment.")
    parser.add_argument("--rules", action="store_true", help="list the rules and exit")
    parser.add_argument("paths", nargs="*")
    args = parser.parse_args()
    if args.rules:
        for rule, text in RULES.items():
            print("{:4} {}".format(rule, text))
        return 0
    linter = Linter()
    files = find_files(args.paths)
    for path in files:
        with open(path, encoding="utf-8", errors="replace") as source:
            linter.add(path, source.read())
    findings = linter.check()
    for finding in findings:
        print("{}:{}: {}: {}".format(*finding))
    print("weft_lint: {} files, {} findings".format(len(files), len(findings)), file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
