#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""taglab without a machine: its data is sound, it judges what lies in a results folder, and it
refuses what it cannot do. Input: build folder. Output: unittest's.

The results folder is made here: recordings by the developer program tracegen, fio's answers and
the driver's counters by hand, so that the right figures are known.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TAGLAB = BUILD / "bin/taglab"
SHARED = {"iops": {"label": "IOPS", "value": "fio.iops"}}


def taglab(*words, tree=ROOT, build=BUILD, env=None):
    return subprocess.run([TAGLAB, "--tree", tree, "--build", build, *words], capture_output=True,
                          text=True, check=False, env=env, stdin=subprocess.DEVNULL)


def answer(iops, ios=100, lat_us=50, truth=None, error=None):
    out = {"elapsed_ns": 1, "values": {"held": 23}, "truth": {"d0": {"truth": truth or {}}},
           "fio": {"fio": {"jobs": [{"jobname": "j", "write": {"total_ios": 0}, "read": {
               "total_ios": ios, "iops": iops, "runtime": 5, "lat_ns": {"mean": lat_us * 1000}}}]}}}
    if error:
        out["error"] = error
    return out


class Lab:
    """A tree with one experiment and a build folder with results for it."""

    def __init__(self, experiment):
        self.dir = tempfile.TemporaryDirectory()
        self.tree, self.build = pathlib.Path(self.dir.name, "t"), pathlib.Path(self.dir.name, "b")
        folder = self.tree / "contrib/experiments"
        (folder / "probe").mkdir(parents=True)
        (folder / "metrics.json").write_text(json.dumps(SHARED))
        (folder / "probe/experiment.json").write_text(json.dumps(experiment))
        (self.tree / "tests/vm").mkdir(parents=True)
        (self.tree / "tests/vm/kernels").write_text("# comment\n6.12 required\n")
        self.results = self.build / "lab/probe/6.12"
        self.results.mkdir(parents=True)
        (self.results / "plan.json").write_text('{"quick": false}')

    def __del__(self):
        self.dir.cleanup()

    def run(self, name, **figures):
        (self.results / f"{name}.run.json").write_text(json.dumps(answer(**figures)))
        trace = self.results / f"{name}.tag"
        subprocess.run([BUILD / "dev/tracegen", "--ios", "2000", "--force", trace], capture_output=True, check=True)

    def show(self, *words):
        return taglab("show", "probe", *words, tree=self.tree, build=self.build)


def experiment(**more):
    return {"title": "t", "source": "s", "repeats": 2,
            "variants": [{"name": "A", "what": "a"}, {"name": "B", "what": "b"}],
            "cells": [{"name": "all", "published": {"iops": {"A": 10, "B": 20}}}],
            "headline": ["iops"],
            "why": [{"name": "kicks", "label": "kicks", "value": "sum(truth.*.total.kicks)"},
                    {"name": "gone", "label": "gone", "value": "report.no.such / 2"},
                    {"name": "held", "label": "held", "value": "values.held"}],
            "expect": [{"say": "ratio", "metric": "iops", "of": "B/A", "op": ">=", "value": 1.4}], **more}


class Data(unittest.TestCase):
    def test_all_experiments_are_sound(self):
        names = [one["name"] for one in json.loads(taglab("list", "--json").stdout)["experiments"]]
        self.assertEqual(sorted(names), sorted(path.parent.name for path in
                                       (ROOT / "contrib/experiments").glob("*/experiment.json")))
        for name in ("host-tags", "global-tags", "hctx-share-tags", "queue-rqs", "restart"):
            self.assertIn(name, names)

    def test_fio_files_are_there(self):
        for path in (ROOT / "contrib/experiments").glob("*/experiment.json"):
            text = path.read_text()
            for word in set(part.split('"')[0] for part in text.split('"fio": "')[1:]):
                self.assertTrue((ROOT / "contrib/fio" / word).exists(), f"{path}: {word}")

    def test_what_is_unknown_or_wrong_is_refused(self):
        for change, told in (({"surprise": 1}, "surprise"), ({"repeats": "x"}, "repeats"),
                             ({"why": ["nosuch"]}, "nosuch"), ({"variants": []}, "variant"),
                             ({"why": [{"name": "x", "label": "x", "value": "1 +"}]}, "formula"),
                             ({"expect": [{"say": "x", "metric": "iops", "of": "Z", "op": ">", "value": 1}]}, "Z"),
                             ({"expect": [{"say": "x", "metric": "iops", "of": "A", "op": "~", "value": 1}]}, "~")):
            done = Lab(experiment(**change)).show()
            self.assertEqual(done.returncode, 2, change)
            self.assertIn(told, done.stderr)


class Judging(unittest.TestCase):
    def lab(self, a, b, **more):
        lab = Lab(experiment(**more))
        for repeat, factor in ((1, 0.9), (2, 1.1)):
            lab.run(f"A.all.{repeat}", iops=a * factor, truth={"total.kicks": 3})
            lab.run(f"B.all.{repeat}", iops=b * factor, truth={"total.kicks": 5})
        return lab

    def test_figures(self):
        done = self.lab(1000, 1500).show("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        one = json.loads(done.stdout)["experiments"][0]
        self.assertEqual((one["name"], one["kernel"], one["pass"]), ("probe", "6.12", True))
        self.assertAlmostEqual(one["ratio"], 1.5)
        self.assertEqual([v["name"] for v in one["variants"]], ["A", "B"])
        self.assertAlmostEqual(one["variants"][0]["iops"], 1000)
        metrics = one["cells"][0]["metrics"]
        self.assertAlmostEqual(metrics["iops"]["variants"]["B"]["low"], 1350)
        self.assertAlmostEqual(metrics["iops"]["variants"]["B"]["high"], 1650)
        self.assertEqual(metrics["kicks"]["variants"]["B"]["mean"], 5)
        self.assertEqual(metrics["held"]["variants"]["A"]["mean"], 23)
        self.assertIsNone(metrics["gone"]["variants"]["A"]["mean"])
        text = self.lab(1000, 1500).show().stdout
        self.assertIn("1000 ±10.0%", text)
        self.assertIn("not measured", text)
        self.assertRegex(text, r"ok +ratio: 1.5 \(wanted >= 1.4\)")

    def test_what_does_not_hold_is_said(self):
        lab = self.lab(1000, 1300)
        done = lab.show()
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"NOT OK ratio: 1.3 \(wanted >= 1.4\)")
        self.assertFalse(json.loads(lab.show("--json").stdout)["pass"])

    def test_what_was_not_measured_does_not_hold(self):
        for op in ("<=", ">="):
            done = self.lab(1, 2, expect=[{"say": "x", "metric": "gone", "of": "A", "op": op, "value": 0}]).show()
            self.assertEqual(done.returncode, 3)
            self.assertIn("x: not measured", done.stdout)

    def test_a_run_that_is_missing_or_failed_is_a_failure(self):
        lab = self.lab(1000, 1500)
        (lab.results / "B.all.2.run.json").unlink()
        self.assertEqual(lab.show().returncode, 1)
        self.assertIn("1 runs did not take place: B.all.2", lab.show().stdout)
        lab.run("B.all.2", iops=1500, error="ref_null cannot be loaded: no")
        self.assertEqual(lab.show().returncode, 1)
        self.assertIn("ref_null cannot be loaded", lab.show().stdout)

    def test_a_damaged_recording_is_a_failure(self):
        lab = self.lab(1000, 1500)
        trace = lab.results / "A.all.1.tag"
        trace.write_bytes(trace.read_bytes()[:-100])
        self.assertEqual(lab.show().returncode, 1)
        trace.write_bytes(b"")
        self.assertEqual(lab.show().returncode, 1)


class Refusals(unittest.TestCase):
    def test_usage(self):
        for words in ((), ("run",), ("run", "nosuch"), ("run", "../x"), ("show", "nosuch"), ("run", "host-tags", "--kernel", "9.9"),
                      ("run", "host-tags", "--native", "--kernel", "6.1"), ("run", "host-tags", "--yes"), ("frob",)):
            done = taglab(*words)
            self.assertEqual(done.returncode, 2, f"{words}: {done.stderr}")
            self.assertNotEqual(done.stderr, "")

    def test_no_tagtrace(self):
        with tempfile.TemporaryDirectory() as folder:
            done = taglab("run", "host-tags", build=folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("tagtrace is not there", done.stderr)

    def test_native_asks_and_refuses_what_needs_a_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(folder + "/bin")
            pathlib.Path(folder, "bin/tagtrace").write_text("#!/bin/sh\n")
            os.chmod(folder + "/bin/tagtrace", 0o755)
            done = taglab("run", "case-bud-3", "--native", build=folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("throwaway", done.stderr)
            done = taglab("run", "host-tags", "--native", build=folder)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "not agreed to|needs root")

    def test_no_qemu(self):
        """A VM bed that cannot start one: its message is passed on, the runs are named."""
        lab = Lab(experiment())
        vm = lab.tree / "tools/vm/vm"
        vm.parent.mkdir(parents=True)
        vm.write_text('#!/bin/sh\n[ "$1" = list ] && { echo "6.12 6.12.1-amd64"; exit 0; }\n'
                      'echo "vm: qemu-system-x86_64 is not installed" >&2; exit 125\n')
        vm.chmod(0o755)
        (lab.build / "bin").mkdir()
        (lab.build / "bin/tagtrace").write_text("#!/bin/sh\n")
        (lab.build / "bin/tagtrace").chmod(0o755)
        done = taglab("run", "probe", tree=lab.tree, build=lab.build)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("qemu-system-x86_64 is not installed", done.stderr)
        self.assertIn("could not be started", done.stderr)
        self.assertIn("4 runs did not take place: A.all.1", done.stdout)


if __name__ == "__main__":
    unittest.main()
