# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""What bench/run makes of a suite and of what the programs say."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import stat
import tempfile
import unittest
import xml.etree.ElementTree as ET

SUITE = """
# a comment
peers tokio go
fib 2 27/22 io 4 ns_per_op tokio>=4  # another
idle/cpu 1 10 cpu 1 cpu_us -
"""


def load():
    loader = importlib.machinery.SourceFileLoader("bench_run", "bench/run")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


run = load()


def results(*figures):
    return [{"ns_per_op": figure, "cpu_ns_per_op": 1, "max_rss_kb": 2048} for figure in figures]


class RunTest(unittest.TestCase):

    def setUp(self):
        self.peers, self.rounds, self.cases = run.read_suite(SUITE)
        self.fib = self.cases[0]

    def program(self, name, script):
        """A program in a folder of its own that runs `script`."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_a_suite_is_read(self):
        self.assertEqual(self.peers, ["tokio", "go"])
        self.assertEqual(self.rounds, 7)
        self.assertEqual([case.name for case in self.cases], ["fib", "idle/cpu"])
        self.assertEqual((self.fib.size, self.fib.quick, self.fib.iterations), (27, 22, 4))
        self.assertEqual(self.cases[1].quick, 10)

    def test_a_suite_may_want_more_rounds(self):
        self.assertEqual(run.read_suite("rounds 21\n")[1], 21)

    def test_the_executors_suite_is_sound(self):
        with open("bench/executor/cases.txt", encoding="utf-8") as file:
            peers, _, cases = run.read_suite(file.read())
        self.assertEqual(len({case.name for case in cases}), len(cases))
        for case in cases:
            self.assertIn(case.driver, ("io", "cpu"))
            self.assertLessEqual(case.quick, case.size)
            if case.goal != "-":
                self.assertIn(case.goal.split(">=")[0], peers)

    def test_the_suite_of_sync_is_sound(self):
        with open("bench/sync/cases.txt", encoding="utf-8") as file:
            peers, _, cases = run.read_suite(file.read())
        self.assertEqual(peers, ["tokio", "smol", "go", "boost_fiber", "moodycamel"])
        self.assertEqual(len({case.name for case in cases}), len(cases))
        for case in cases:
            self.assertIn(case.metric, ("ns_per_op", "cancel_ns_per_op", "bytes"))
            self.assertLessEqual(case.quick, case.size)

    def test_the_suite_of_observing_is_sound(self):
        with open("bench/observe/cases.txt", encoding="utf-8") as file:
            peers, _, cases = run.read_suite(file.read())
        self.assertEqual(peers, ["uncounted", "histograms"])
        for case in cases:
            for peer in peers:
                self.assertLess(run.goal_of(case, peer), run.limit_of(case, peer))

    def test_a_goal_may_be_an_upper_one(self):
        case = self.fib._replace(goal="uncounted>=0.98,histograms<=1.05")
        self.assertEqual(run.goal_of(case, "uncounted"), 0.98)
        self.assertEqual(run.goal_of(case, "histograms"), 0)
        self.assertEqual(run.limit_of(case, "histograms"), 1.05)
        self.assertIsNone(run.missed(case, "histograms", 1.05))
        self.assertEqual(run.missed(case, "histograms", 1.06), "at most 1.05")
        self.assertEqual(run.missed(case, "uncounted", 0.97), "goal 0.98")
        measured = [(case, {"weft": results(100), "uncounted": results(97),
                            "histograms": results(107)})]
        self.assertEqual(list(run.shortfalls(measured, ["uncounted", "histograms"])),
                         ["fib: 0.97 to uncounted, goal 0.98",
                          "fib: 1.07 to histograms, at most 1.05"])

    def test_a_goal_is_for_one_peer_and_no_row_may_lose(self):
        self.assertEqual(run.goal_of(self.fib, "tokio"), 4)
        self.assertEqual(run.goal_of(self.fib, "go"), 1)
        self.assertEqual(run.goal_of(self.fib, "boost_fiber"), 1)
        for limit in ("futex", "moodycamel"):
            self.assertEqual(run.goal_of(self.fib, limit), 0)

    def test_quantiles_lie_between_values(self):
        self.assertEqual(run.quantile([3, 1, 2], 0.5), 2)
        self.assertAlmostEqual(run.quantile([1, 2], 0.1), 1.1)
        self.assertEqual(run.quantile([7], 0.9), 7)

    def test_ratios_are_taken_round_by_round(self):
        measured = {"weft": results(10, 20), "tokio": results(30, 20)}
        self.assertEqual(run.ratios(measured, "tokio", "ns_per_op"), [3, 1])

    def test_no_ratio_to_what_did_not_run(self):
        measured = {"weft": results(10), "tokio": "no such thing"}
        self.assertEqual(run.ratios(measured, "tokio", "ns_per_op"), [])

    def test_programs_get_the_parameters_of_the_table(self):
        path = self.program("weft", 'printf \'{"said":"%s"}\' "$*"')
        self.assertEqual(run.run_program(path, self.fib, quick=False)["said"],
                         "fib --workers=2 --size=27 --iterations=4 --io")
        self.assertEqual(run.run_program(path, self.fib, quick=True)["said"],
                         "fib --workers=2 --size=22 --iterations=1 --io")
        self.assertEqual(run.run_program(path, self.cases[1], quick=False)["said"],
                         "idle --workers=1 --size=10 --iterations=1")

    def test_programs_take_turns(self):
        log = self.program("log", "")
        script = f'basename "$0" >> {log}; echo \'{json.dumps(results(1)[0])}\''
        programs = {name: self.program(name, script) for name in ("weft", "tokio")}
        measured = run.measure(self.fib, programs, 2, quick=False)
        self.assertEqual([len(measured["weft"]), len(measured["tokio"])], [2, 2])
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().split()[1:], ["weft", "tokio", "tokio", "weft"])

    def test_what_is_missing_has_a_reason(self):
        programs = {
            "weft": self.program("weft", f"echo '{json.dumps(results(1)[0])}'"),
            "tokio": self.program("tokio", 'echo \'{"unsupported":"no such thing"}\''),
            "smol": self.program("smol", "echo error: it broke >&2; exit 1"),
            "go": run.Unavailable("go is not installed"),
        }
        measured = run.measure(self.fib, programs, 2, quick=False)
        self.assertEqual(measured["tokio"], "no such thing")
        self.assertEqual(measured["smol"], "error: it broke")
        self.assertEqual(measured["go"], "go is not installed")
        text = "\n".join(run.report([(self.fib, measured)], ["tokio", "smol", "go"]))
        self.assertIn("| fib | [1] | [2] | [3] | tokio 4 |", text)
        self.assertIn("[3] go is not installed", text)

    def test_a_program_that_says_something_else_is_no_disaster(self):
        with self.assertRaisesRegex(run.Unavailable, "printed no JSON"):
            run.run_program(self.program("go", "echo hello"), self.fib, quick=False)

    def test_a_missing_toolchain_is_named(self):
        with self.assertRaisesRegex(run.Unavailable, "no-such-tool is not installed"):
            run.output_of("no-such-tool", "--version")

    def test_what_is_below_the_goal_stands_out(self):
        measured = [(self.fib, {"weft": results(10), "tokio": results(39), "go": results(11)})]
        text = "\n".join(run.report(measured, self.peers))
        self.assertIn("| fib | **3.90** (3.90-3.90) | 1.10 (1.10-1.10) | tokio 4 |", text)
        self.assertEqual(list(run.shortfalls(measured, self.peers)),
                         ["fib: 3.90 to tokio, goal 4.0"])

    def test_only_the_suites_own_part_is_replaced(self):
        text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n"
        self.assertEqual(run.merge(text, "x", ["new"]),
                         "a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n")
        with self.assertRaises(ValueError):
            run.merge(text, "y", ["new"])

    def test_the_plot_gets_a_folder_beside_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "benchmarks.md"
            document.write_text("<!-- x: begin -->\n<!-- x: end -->\n", encoding="utf-8")
            for image in ("one", "two"):
                run.publish(document, "x", ["new"], image)
                plot = pathlib.Path(folder) / "benchmarks" / "x.svg"
                self.assertEqual(plot.read_text(encoding="utf-8"), image)
            self.assertIn("new", document.read_text(encoding="utf-8"))

    def test_the_plot_is_well_formed(self):
        measured = [(self.fib, {"weft": results(10), "tokio": results(40), "go": "a < b"})]
        root = ET.fromstring(run.plot(measured, self.peers))
        circles = root.findall("{http://www.w3.org/2000/svg}circle")
        self.assertEqual(len(circles), 1)


if __name__ == "__main__":
    unittest.main()
