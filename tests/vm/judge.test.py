#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the judge of VM suites rejects what it must. Input: tests/vm/run. Output: status."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"


def load():
    """The program as a module: it has no .py ending, so the loader is named."""
    loader = importlib.machinery.SourceFileLoader("vm_run", str(RUN))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("vm_run", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


run = load()


class Judge(unittest.TestCase):
    def wrong(self, log, status=0):
        return run.judge(log, status)[1]

    def test_all_ok(self):
        self.assertEqual(run.judge("1..2\nok a\nnoise\nok b\n", 0), (2, []))

    def test_not_ok(self):
        self.assertEqual(self.wrong("1..2\nok a\nnot ok b: why\n", 1), ["b: why"])

    def test_cut_short(self):
        self.assertTrue(self.wrong("1..3\nok a\nok b\n"))

    def test_too_many(self):
        self.assertTrue(self.wrong("1..1\nok a\nok b\n"))

    def test_no_plan(self):
        self.assertTrue(self.wrong("ok a\n"))

    def test_empty_plan(self):
        self.assertTrue(self.wrong("1..0\n"))

    def test_nothing(self):
        self.assertTrue(self.wrong(""))

    def test_bad_status(self):
        self.assertTrue(self.wrong("1..1\nok a\n", 139))


class Header(unittest.TestCase):
    def suite(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.sh"
            path.write_text(text)
            return run.Suite(path)

    def test_words(self):
        suite = self.suite("# vm: icount kernels=all timeout=7\n# vm-qemu: -device a -device b\n")
        self.assertEqual((suite.icount, suite.smp, suite.kernels, suite.timeout_s),
                         (True, 1, "all", 7))
        self.assertEqual(suite.qemu, ["-device", "a", "-device", "b"])

    def test_same_machine_same_group(self):
        self.assertEqual(self.suite("# vm: smp=4\n").group, self.suite("# vm: smp=4 timeout=9\n").group)
        self.assertNotEqual(self.suite("# vm: smp=4\n").group,
                            self.suite("# vm: smp=4\n# vm-qemu: -x\n").group)

    def test_unknown_word(self):
        with self.assertRaises(SystemExit):
            self.suite("# vm: speed=11\n")


if __name__ == "__main__":
    unittest.main()
