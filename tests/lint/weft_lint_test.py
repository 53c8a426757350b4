# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Each rule of weft_lint: code it must reject, and code it must accept."""

import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "tools")
import weft_lint  # noqa: E402


def findings(source):
    """Returns [(line, rule)] for the source."""
    linter = weft_lint.Linter()
    linter.add("a.cc", source)
    return [(line, rule) for _, line, rule, _ in linter.check()]


def rules(source):
    return sorted({rule for _, rule in findings(source)})


def body(statements):
    """Returns the rules broken by the statements of a coroutine."""
    return rules("Task<void> F() {\n" + statements + "\n}\n")


class OperatorTest(unittest.TestCase):

    def test_rejects_awaits_in_operands(self):
        for statement in (
                "while (c && co_await x) {}",
                "if (co_await x || y) co_return;",
                "bool b = a && f(co_await x);",
                "int i = c ? co_await a : 3;",
                "co_return co_await x ? 1 : 2;",
                "f(1, a || co_await b);",
                "for (; a && co_await x;) {}",
                "auto f = c and co_await x;",
                "g([] { return 1; }, a && co_await b);",
        ):
            self.assertEqual(body(statement), ["R21"], statement)

    def test_reports_the_line_of_the_await(self):
        self.assertEqual(findings("T F() {\n  return;\n}\nTask<int> G() {\n  bool b = c &&\n"
                                  "      co_await x;\n}\n"), [(6, "R21")])

    def test_accepts_awaits_outside_of_operands(self):
        for statement in (
                "auto&& x = co_await y;",
                "Type&& x = co_await y;",
                "std::vector<int>&& x = co_await y;",
                "for (auto&& x : co_await y) { a = b && c; }",
                "for (T&& x : co_await y) {}",
                "f(a && b, co_await x);",
                "if (co_await x) y = a ? b : c;",
                "if (co_await x) { y = a || b; }",
                "co_await f(c ? a : b);",
                "co_await std::forward<T&&>(t);",
                "auto r = co_await x; if (r && y) co_return;",
                "co_await f([](T&& a) { return a && b; });",
                "co_await x; bool b = c && d;",
                "switch (co_await x) { case 1: y = a ? b : c; }",
        ):
            self.assertEqual(body(statement), [], statement)


class BracesTest(unittest.TestCase):

    def test_rejects_braced_lists_beside_an_await(self):
        for statement in (
                "co_await f({a, b});",
                "co_await Send(Options{.size = 3});",
                "co_await S{1}.Go();",
                "auto v = std::vector<int>{co_await x};",
                "Options o{co_await x};",
                "co_return T{co_await a};",
                "co_await f({});",
        ):
            self.assertEqual(body(statement), ["R6"], statement)

    def test_rejects_statement_expressions_that_suspend(self):
        self.assertEqual(body("int x = ({ auto r = co_await y; r; });"), ["R6"])
        self.assertEqual(body("f(({ if (a) co_return; 1; }));"), ["R6"])

    def test_accepts_braces_elsewhere(self):
        for statement in (
                "Options o{1, 2}; co_await f(std::move(o));",
                "if (co_await x) { y(); } else { z({1}); }",
                "while (co_await x) { std::vector<int> v{1, 2}; }",
                "co_await f([] { return S{1}; });",
                "try { co_await x; } catch (...) { y({}); }",
                "for (int i : {1, 2}) { co_await f(i); }",
                "{ co_await x; }",
                "do { co_await x; } while (y);",
                "struct S { int a = 1; S() : b{2} {} int b; }; co_await f();",
        ):
            self.assertEqual(body(statement), [], statement)

    def test_accepts_function_bodies_of_every_form(self):
        for source in (
                "auto F() -> Task<int> { co_await x; }",
                "auto F() -> std::pair<Task<int>, int> { co_await x; }",
                "Task<int> C::F() const& { co_await x; }",
                "Task<int> C::F() noexcept { co_await x; }",
                "class C final : public B { Task<int> F() override { co_await x; } };",
                "namespace a::b { Task<int> F() { co_await x; } }",
                "struct S { S() : a_{1} { } int a_; Task<int> F() { co_await x; } };",
                'extern "C" { void F() {} }',
                "WEFT_TEST(ATest, Holds) { co_await x; EXPECT_EQ(1, 2); }",
                "template <class T> requires (C<T>) Task<T> F() { co_await x; }",
        ):
            self.assertEqual(rules(source), [], source)


class LambdaTest(unittest.TestCase):

    def test_rejects_by_value_captures_beside_an_await(self):
        for statement in (
                "co_await f([x] { return x; });",
                "co_await f([=] { return x; });",
                "co_await f([&a, b = std::move(c)]() mutable { return b; });",
                "auto r = co_await Select(On(f, [big](int i) { use(big); }), g);",
        ):
            self.assertEqual(body(statement), ["R3"], statement)

    def test_accepts_other_lambdas_beside_an_await(self):
        for statement in (
                "co_await f([] { return 1; });",
                "co_await f([&] { return x; });",
                "co_await f([&a, this] { return a; });",
                "auto g = [x] { return x; }; co_await f(std::move(g));",
                "a[i] = co_await x;",
                "int a[3]; a[f(x)] = co_await b[1];",
                "[[maybe_unused]] int i = co_await x;",
        ):
            self.assertEqual(body(statement), [], statement)

    def test_rejects_coroutine_lambdas_with_captures(self):
        for source in (
                "auto f = [x]() -> Task<int> { co_return x; };",
                "auto f = [&] { return [this]() -> Task<int> { co_await a; }; };",
                "F([&]() -> Task<std::pair<int, int>> { co_await x; });",
                "auto f = [x]() -> Task<int> { co_return x; }; BlockOn(f()); Spawn(g);",
                "auto f = [&]<class T>(T t) -> Task<T> { for (;;) { co_await t; } };",
        ):
            self.assertEqual(rules("void G() { " + source + " }"), ["R4"], source)

    def test_accepts_coroutine_lambdas_that_are_kept_or_capture_nothing(self):
        for source in (
                "auto f = [](int x) -> Task<int> { co_return x; };",
                "executor.Spawn([x]() -> Task<int> { co_return x; });",
                "shards.SpawnAt(1, [x]() -> Task<int> { co_return x; });",
                "handle.SpawnByKey(key, [x]() -> Task<int> { co_return x; });",
                "BlockOn(Invoke([&]() -> Task<int> { co_return x; }));",
                "auto f = [x]() -> Task<int> { co_return x; }; return Invoke(std::move(f));",
                "auto f = [x]() -> Task<int> { co_return x; }; { g(a.Spawn(f)); }",
                "auto f = [x] { return [](int y) -> Task<int> { co_return y; }(x); };",
        ):
            self.assertEqual(rules("void G() { " + source + " }"), [], source)


class SpawnedLambdaTest(unittest.TestCase):

    def test_rejects_captures_by_reference(self):
        for source in (
                "Spawn([&s]() -> Task<int> { co_return s; });",
                "Spawn([&s] { return Ref(s); });",
                "auto h = runtime->Spawn([&]() -> Task<> { co_return; });",
                "pool.Spawn([this] { return Serve(); });",
                "pool.Spawn([n, this]() -> Task<> { co_return; });",
                "pool.Spawn([s = &s]() -> Task<> { co_return; });",
                "shards.SpawnAt(1, [&s] { return Ref(s); });",
                "handle.SpawnByKey(key, [&s] { return Ref(s); });",
                "tasks.Spawn(0, [&s] { return Ref(s); });",
                "Spawn(Invoke([&s] { return Ref(s); }));",
                "auto f = [&s]() -> Task<int> { co_return s; }; Spawn(f);",
                "auto f = [&s] { return Ref(s); }; Spawn(std::move(f));",
                "executor.Run(stop.Wait()); executor.Spawn([&s] { return Ref(s); });",
                "BlockOn(Invoke([x] { return Both(Spawn([&x] { return Ref(x); })); }));",
        ):
            self.assertEqual(rules("void G() { " + source + " }"), ["R22"], source)

    def test_accepts_values_and_what_is_waited_for(self):
        for source in (
                "Spawn([s]() -> Task<int> { co_return s; });",
                "Spawn([s = s, t = a & b] { return Sum(s, t); });",
                "Spawn([self = *this, *this] { return Serve(); });",
                "auto h = SpawnBorrowing([&s] { return Ref(s); });",
                "executor.Run(executor.Spawn([&]() -> Task<> { co_return; }));",
                "BlockOn(pool.Spawn([this] { return Serve(); }));",
                "BlockOn(Invoke([&]() -> Task<int> { co_return s; }));",
                "auto f = [&s] { return s; }; Spawn(Work(f()));",
                "Spawn(Work([&] { return 1; }()));",
        ):
            self.assertEqual(rules("void G() { " + source + " }"), [], source)


class OtherExpressionsTest(unittest.TestCase):

    def test_rejects_folds(self):
        self.assertEqual(body("(co_await std::move(ts), ...);"), ["R7"])
        self.assertEqual(body("auto s = (0 + ... + co_await ts);"), ["R7"])
        self.assertEqual(body("f(co_await ts...);"), [])

    def test_rejects_nested_awaits(self):
        self.assertEqual(body("co_await f(co_await g());"), ["R8"])
        self.assertEqual(body("co_await a.b<int>(1).f(2, h(co_await g()));"), ["R8"])
        self.assertEqual(body("int s = co_await f() + co_await g();"), [])

    def test_rejects_structured_bindings_of_an_await(self):
        self.assertEqual(body("auto [a, b] = co_await x;"), ["R9"])
        self.assertEqual(body("const auto& [a, b] = co_await x;"), ["R9"])
        self.assertEqual(body("auto r = co_await x; auto& [a, b] = r;"), [])


class DeclarationTest(unittest.TestCase):

    def test_rejects_aggregates_as_parameters(self):
        options = "struct Options { std::string name; int size = 0; };\n"
        self.assertEqual(rules(options + "Task<int> F(Options o);"), ["R1"])
        self.assertEqual(rules(options + "Task<int> C::F(int a, const Options& o) {}"), ["R1"])
        self.assertEqual(rules(options + "Task<int> F(Options* o, Options& p);"), [])
        self.assertEqual(rules(options + "int F(Options o);"), [])

    def test_accepts_parameters_with_constructors_or_trivial_members(self):
        for options in (
                "struct Options { Options(); std::string name; };",
                "struct Options { int size; };",
                "struct Options { std::string Name() const; int size; };",
                "class Options { std::string name; };",
        ):
            self.assertEqual(rules(options + " Task<int> F(Options o);"), [], options)

    def test_takes_no_argument_of_a_specialisation_for_an_aggregate(self):
        outcome = "template <> struct Outcome<void> { using Type = std::string; };\n"
        self.assertEqual(rules(outcome + "Task<int> F(Sender<void> s);"), [])

    def test_rejects_braced_defaults(self):
        self.assertEqual(rules("Task<int> F(Options o = {});"), ["R2"])
        self.assertEqual(rules("int F(Options o = {});"), [])
        self.assertEqual(rules("Task<int> F(int a = 1);"), [])

    def test_rejects_always_inline_await_suspend(self):
        self.assertEqual(rules("struct A { [[gnu::always_inline]] void await_suspend(H h); };"),
                         ["R12"])
        self.assertEqual(rules("struct A { ABSL_ATTRIBUTE_ALWAYS_INLINE void await_suspend(H h); };"),
                         ["R12"])
        self.assertEqual(rules("struct A { void await_suspend(H h); };"), [])

    def test_rejects_final_suspend_never(self):
        self.assertEqual(rules("struct P { std::suspend_never final_suspend() noexcept; };"), ["R17"])
        self.assertEqual(rules("struct P { auto final_suspend() noexcept "
                               "{ return std::suspend_never(); } };"), ["R17"])
        self.assertEqual(rules("struct P { std::suspend_never initial_suspend();\n"
                               " std::suspend_always final_suspend() noexcept; };"), [])


class BodyTest(unittest.TestCase):

    def test_rejects_thread_locals_and_aligned_locals(self):
        self.assertEqual(body("static thread_local int x; co_await y;"), ["R10"])
        self.assertEqual(body("alignas(64) char b[64]; co_await y;"), ["R15"])
        self.assertEqual(rules("void F() { static thread_local int x; alignas(64) char b; }"), [])

    def test_rejects_locks_over_a_suspension(self):
        self.assertEqual(body("std::lock_guard<std::mutex> l(m); co_await x;"), ["R19"])
        self.assertEqual(body("std::unique_lock l(m); if (a) { co_await x; }"), ["R19"])
        self.assertEqual(body("absl::MutexLock l(&m); co_yield x;"), ["R19"])

    def test_accepts_locks_that_end_before(self):
        self.assertEqual(body("{ std::lock_guard l(m); y(); } co_await x;"), [])
        self.assertEqual(body("std::unique_lock l(m); l.unlock(); co_await x;"), [])
        self.assertEqual(body("auto guard = co_await m.Lock(); co_await x;"), [])
        self.assertEqual(rules("void F() { std::lock_guard l(m);\n"
                               " G([]() -> Task<int> { co_await x; }); }"), [])


class SourceTest(unittest.TestCase):

    def test_reads_no_comments_strings_or_macros(self):
        self.assertEqual(body("// a && co_await x\n/* a && co_await x\n */ co_await y;"), [])
        self.assertEqual(body('f("a && co_await {", \'{\', R"x(a && co_await)" })x");'), [])
        self.assertEqual(rules("#define M(x) \\\n  (a && co_await x)\n"), [])

    def test_reads_one_branch_of_conditional_code(self):
        self.assertEqual(rules("#if A\nTask<int> F() {\n#else\nTask<long> F() {\n#endif\n"
                               "  bool b = a && co_await x;\n}\n"), ["R21"])

    def test_digit_separators_do_not_start_characters(self):
        self.assertEqual(body("int a = 1'000'000; bool b = c && co_await x; int d = 2'000;"), ["R21"])

    def test_an_allowance_covers_its_line_and_the_next(self):
        allow = "// weft-lint: allow(R21): the left side never suspends.\n"
        self.assertEqual(body(allow + "bool b = c && co_await x;"), [])
        self.assertEqual(body("bool b = c && co_await x;  " + allow), [])
        self.assertEqual(body(allow.replace("R21", "R6, R21") + "// more words\n"
                              "bool b = c && co_await x;"), [])
        self.assertEqual(body(allow.replace("R21", "R6") + "bool b = c && co_await x;"), ["R21"])
        self.assertEqual(body(allow + "int y;\nbool b = c && co_await x;"), ["R21"])

    def test_an_allowance_for_the_file_covers_all_of_it(self):
        allow = "\n// weft-lint: allow-file(R21): the left sides never suspend.\n"
        self.assertEqual(body("bool b = c && co_await x;" + allow + "bool d = c || co_await x;"), [])
        self.assertEqual(body("co_await f({});" + allow), ["R6"])

    def test_survives_unbalanced_brackets(self):
        self.assertEqual(rules("Task<int> F() { (a ] } co_await x; ) } } {"), [])


class CommandTest(unittest.TestCase):

    def run_lint(self, *args):
        return subprocess.run([sys.executable, "tools/weft_lint.py", *args],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False)

    def test_lists_every_rule(self):
        result = self.run_lint("--rules")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout.splitlines()), len(weft_lint.RULES))

    def test_reports_files_and_lines_and_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/bad.cc"
            with open(path, "w", encoding="utf-8") as file:
                file.write("Task<int> F() {\n  co_return a && co_await b;\n}\n")
            result = self.run_lint(folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn(path + ":2: R21: ", result.stdout)

    def test_succeeds_without_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_lint(folder).returncode, 0)


if __name__ == "__main__":
    unittest.main()
