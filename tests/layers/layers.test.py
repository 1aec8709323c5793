#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that every rule of layers.py can fail. Input: small invented trees. Output: status."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402

HEAD = f"// {layers.SPDX}\n"
TREE = {
    "src/CMakeLists.txt": f"# {layers.SPDX}\nblktag_library(base)\n"
                          "blktag_library(decode LINKS blktag_base)\n"
                          "blktag_library(agg LINKS blktag_decode)\n"
                          "blktag_library(report LINKS blktag_agg)\n"
                          "blktag_library(view LINKS blktag_agg)\n"
                          "blktag_library(store LINKS blktag_decode)\n"
                          "blktag_library(capture LINKS blktag_decode)\n"
                          "blktag_library(term LINKS blktag_view)\n",
    "tools/CMakeLists.txt": f"# {layers.SPDX}\nblktag_program(tagreport LINKS blktag)\n"
                            "blktag_program(tagtop LINKS blktag blktag_capture blktag_term)\n",
    "tests/layers/public_headers": f"# {layers.SPDX}\nwire.h base\nsnapshot.hpp agg\n",
    "include/blktag/wire.h": HEAD,
    "include/blktag/snapshot.hpp": HEAD + '#include "blktag/wire.h"\n',
    "src/base/a.hpp": HEAD,
    "src/agg/a.cpp": HEAD + '#include "base/a.hpp"\n#include "blktag/snapshot.hpp"\n',
    "src/capture/a.cpp": HEAD + "#include <bpf/libbpf.h>\n#include <bcc/bcc_syms.h>\n",
    "src/capture/capabilities.cpp": HEAD + "int v = LINUX_VERSION_CODE;\n",
    "src/term/a.cpp": HEAD + "#include <ncurses.h>\n",
    "bpf/compat.bpf.h": HEAD + "extern int LINUX_KERNEL_VERSION;\n",
    "tools/tagtop/main.cpp": HEAD + '#include "capture/a.hpp"\n#include "view/a.hpp"\n',
    "tests/unit/a.cpp": HEAD + '#include "agg/a.hpp"\n#include "capture/a.hpp"\n',
}


class Rules(unittest.TestCase):
    def check(self, extra):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **extra}.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return layers.Tree(folder).check()

    def broken(self, name, text, expected):
        problems = self.check({name: text})
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(name + ":"), problems)
        self.assertIn(expected, problems[0])

    def test_clean_tree(self):
        self.assertEqual(self.check({}), [])

    def test_include_upwards(self):
        self.broken("src/decode/b.cpp", HEAD + '#include "agg/a.hpp"\n', "not below")

    def test_include_sideways(self):
        self.broken("src/report/b.cpp", HEAD + '#include "view/a.hpp"\n', "not below")

    def test_public_header_upwards(self):
        self.broken("src/decode/b.cpp", HEAD + '#include "blktag/snapshot.hpp"\n', "not below")

    def test_public_header_includes_a_higher_one(self):
        self.broken("include/blktag/wire.h", HEAD + '#include "blktag/snapshot.hpp"\n', "not below")

    def test_public_header_without_layer(self):
        problems = self.check({"include/blktag/new.hpp": HEAD,
                               "src/agg/b.cpp": HEAD + '#include "blktag/new.hpp"\n'})
        self.assertTrue(any("name the layer" in problem for problem in problems), problems)

    def test_report_program_stays_offline(self):
        self.broken("tools/tagreport/main.cpp", HEAD + '#include "capture/a.hpp"\n', "not below")

    def test_bpf_program_includes_user_space(self):
        self.broken("bpf/tag.bpf.c", HEAD + '#include "agg/a.hpp"\n', "not below")

    def test_climbing_out(self):
        self.broken("src/agg/b.cpp", HEAD + '#include "../agg/a.hpp"\n', "climb")

    def test_links_in_a_ring(self):
        text = TREE["src/CMakeLists.txt"].replace("(base)", "(base LINKS blktag_agg)")
        problems = self.check({"src/CMakeLists.txt": text})
        self.assertTrue(any("link each other" in problem for problem in problems), problems)

    def test_libbpf_outside_capture(self):
        for header in ("<bpf/libbpf.h>", "<bcc/bcc_syms.h>", '"blktag.skel.h"', "<linux/bpf.h>"):
            self.broken("src/agg/b.cpp", HEAD + f"#include {header}\n", "src/capture only")
            self.broken("tools/tagtop/b.cpp", HEAD + f"#include {header}\n", "src/capture only")

    def test_curses_outside_term(self):
        for header in ("<ncurses.h>", "<curses.h>", "<ncursesw/curses.h>", "<panel.h>"):
            self.broken("src/view/b.cpp", HEAD + f"#include {header}\n", "src/term only")

    def test_kernel_version(self):
        for line in ("#if LINUX_VERSION_CODE", "if (v >= KERNEL_VERSION(6, 1, 0))",
                     'sscanf(uts.release, "%d", &major);', "std::stoi(release)"):
            self.broken("src/capture/attach.cpp", HEAD + line + "\n", "kernel version")
            self.broken("bpf/tag.bpf.c", HEAD + line + "\n", "kernel version")

    def test_long_file(self):
        self.broken("src/agg/b.cpp", HEAD + "\n" * layers.MAX_LINES, "more than")
        self.assertEqual(self.check({"src/agg/b.cpp": HEAD + "\n" * (layers.MAX_LINES - 1)}), [])

    def test_no_spdx(self):
        self.broken("src/agg/b.cpp", "int a;\n", "SPDX")
        self.broken("tools/thing", "#!/bin/sh\n" * (layers.SPDX_WITHIN_LINES + 1), "SPDX")

    def test_package_mirror(self):
        for host in (".".join(("deb", "debian", "org")), ".".join(("registry", "npmjs", "org"))):
            self.broken("tools/get", f"# {layers.SPDX}\nfetch {host}/x\n", "package mirror")

    def test_machine_folder(self):
        for path in ("/".join(("", "work", "main")), "/".join(("", "tmp", "x")),
                     "/".join(("", "home", "me"))):
            self.broken("src/agg/b.cpp", HEAD + f'open("{path}");\n', "machine's folder")


if __name__ == "__main__":
    unittest.main()
