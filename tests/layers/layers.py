#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the tree against its own rules. Input: a tree's root folder. Output: one line per broken
rule, exit status 1 when there is any.

Rules: #include lines follow the links in src/CMakeLists.txt and tools/CMakeLists.txt; bpf and bcc
headers only in src/capture, curses only in src/term; kernel versions only in bpf/compat.bpf.h and
src/capture/capabilities*; files of at most 800 lines, with an SPDX line; no package mirror and no
machine's own folder named.
"""
import pathlib
import re
import subprocess
import sys

MAX_LINES = 800
SPDX = "SPDX-License-Identifier: GPL-2.0-or-later"
SPDX_WITHIN_LINES = 5
SOURCE_ENDINGS = {".c", ".h", ".cpp", ".hpp", ".def"}
# Formats that have no comments, plain text for people, and recorded or expected bytes.
NO_SPDX_ENDINGS = {".json", ".md", ".tag", ".golden", ".expected"}
NO_SPDX_NAMES = {"LICENSE", "CHANGELOG.md"}
DATA_FOLDERS = ("tests/data/", "tests/golden/data/", "tests/vm/expect/")

BPF_HEADER = re.compile(r"^(bpf/|bcc/|libbpf|linux/bpf|.*\.skel\.h$)")
CURSES_HEADER = re.compile(r"(^|/)n?curses|^(panel|menu|form|term)\.h$")
KERNEL_VERSION = re.compile(
    r"KERNEL_VERSION|LINUX_VERSION_CODE|LINUX_KERNEL_VERSION|bpf_kernel_version"
    r"|(sscanf|sto[iu]l*|from_chars|strto[ul]+)\s*\([^;]*release", re.I)
KERNEL_VERSION_PLACES = re.compile(r"^(bpf/compat\.bpf\.h|src/capture/capabilities[^/]*)$")
# Written so that these patterns do not match themselves.
HOST = re.compile(
    r"\b(deb|ftp|snapshot|security|archive|cdn[\w-]*)[.](debian|ubuntu)[.](org|com)\b"
    r"|\bregistry[.]npmjs[.]|\b(files[.])?pypi[.]org|pythonhosted[.]org|\bproxy[.]golang[.]org"
    r"|\bcrates[.]io\b|\bmaven[.]org\b|\bdeb[.]nodesource[.]")
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(work|home)/[\w.]|(?<![\w.$}/-])/t[m]p/[\w.$X]")


def link_table(cmake_file, function):
    """{name: [links]} of every call function(name LINKS ...) in a CMake file."""
    text = re.sub(r"#.*", "", cmake_file.read_text())
    table = {}
    for name, links in re.findall(function + r"\(\s*(\w+)(?:\s+LINKS\s+([^)]*))?\)", text):
        table[name] = [link for link in (links or "").split()]
    return table


def reachable(layer, table, seen=None):
    """A layer and all that it may include from."""
    seen = set() if seen is None else seen
    if layer not in seen:
        seen.add(layer)
        for link in table.get(layer, []):
            if link.startswith("blktag_"):
                reachable(link.removeprefix("blktag_"), table, seen)
    return seen


class Tree:
    """A tree's files and tables; check() gives its problems."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.layers = link_table(self.root / "src/CMakeLists.txt", "blktag_library")
        self.programs = link_table(self.root / "tools/CMakeLists.txt", "blktag_program")
        rows = [line.split() for line in
                (self.root / "tests/layers/public_headers").read_text().splitlines()]
        self.public = {row[0]: row[1] for row in rows if len(row) == 2 and row[0] != "#"}
        self.problems = []

    def say(self, name, line, text):
        self.problems.append(f"{name}:{line}: {text}")

    def files(self):
        """Names of the tree's files: what git would commit, or all but build folders."""
        git = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "-co", "--exclude-standard"],
                             capture_output=True, check=False)
        names = git.stdout.decode().split("\0") if git.returncode == 0 else [
            str(path.relative_to(self.root)) for path in self.root.rglob("*")
            if not re.search(r"/(\.git|build[^/]*|__pycache__)/", f"/{path.relative_to(self.root)}/")]
        return sorted(name for name in names if name and (self.root / name).is_file())

    def allowed_for(self, name):
        """Layers that a file may include, or None where any may be."""
        parts = name.split("/")
        if parts[0] == "src" and len(parts) > 2:
            return reachable(parts[1], self.layers)
        if parts[:2] == ["include", "blktag"]:
            return reachable(self.public.get(parts[2], ""), self.layers)
        if parts[0] == "bpf":
            return {"base"}
        if parts[0] == "tools" and parts[1] in self.programs:
            allowed = set()
            for link in self.programs[parts[1]]:
                if link == "blktag":
                    for layer in ("report", "view", "store"):
                        allowed |= reachable(layer, self.layers)
                elif link.startswith("blktag_"):
                    allowed |= reachable(link.removeprefix("blktag_"), self.layers)
            return allowed
        return None

    def layer_of(self, header, name):
        """The layer that an included header belongs to; None for headers from outside."""
        first, _, rest = header.partition("/")
        if first == "blktag":
            if (self.root / "include/blktag" / rest).exists() and rest not in self.public:
                self.say(name, 0, f"name the layer of {header} in tests/layers/public_headers")
            return self.public.get(rest)
        return first if rest and first in self.layers else None

    def check_include(self, name, number, header):
        allowed, layer = self.allowed_for(name), self.layer_of(header, name)
        if allowed is not None and layer is not None and layer not in allowed:
            self.say(name, number, f"may not include {header}: layer {layer} is not below it")
        top = "/".join(name.split("/")[:2])
        if BPF_HEADER.search(header) and top != "src/capture" and not name.startswith("bpf/"):
            self.say(name, number, f"{header} belongs in src/capture only")
        if CURSES_HEADER.search(header) and top != "src/term":
            self.say(name, number, f"{header} belongs in src/term only")
        if header.startswith("../"):
            self.say(name, number, f"{header}: name the layer, do not climb out of the folder")

    def check_source(self, name, lines):
        for number, line in enumerate(lines, 1):
            if match := re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line):
                self.check_include(name, number, match[1])
            if KERNEL_VERSION.search(line) and not KERNEL_VERSION_PLACES.match(name):
                self.say(name, number, "a kernel version is asked for outside the two compat places")

    def check_text(self, name, lines):
        data = name.startswith(DATA_FOLDERS)
        if len(lines) > MAX_LINES and name != "LICENSE" and not data:
            self.say(name, len(lines), f"more than {MAX_LINES} lines")
        exempt = data or pathlib.Path(name).suffix in NO_SPDX_ENDINGS or name in NO_SPDX_NAMES
        if not exempt and not any(SPDX in line for line in lines[:SPDX_WITHIN_LINES]):
            self.say(name, 1, f"no '{SPDX}' in its first {SPDX_WITHIN_LINES} lines")
        for number, line in enumerate(lines, 1):
            if match := HOST.search(line) or MACHINE_PATH.search(line):
                self.say(name, number, f"names a package mirror or a machine's folder: {match[0]}")

    def check_cycles(self):
        for layer, links in self.layers.items():
            for link in links:
                below = link.removeprefix("blktag_")
                if link.startswith("blktag_") and layer in reachable(below, self.layers):
                    self.say("src/CMakeLists.txt", 0, f"{layer} and {below} link each other")

    def check(self):
        self.check_cycles()
        for name in self.files():
            try:
                lines = (self.root / name).read_text().splitlines()
            except UnicodeDecodeError:
                continue  # recorded bytes, not text
            self.check_text(name, lines)
            if pathlib.Path(name).suffix in SOURCE_ENDINGS:
                self.check_source(name, lines)
        return sorted(set(self.problems))


def main():
    problems = Tree(sys.argv[1] if len(sys.argv) > 1 else ".").check()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
