# SPDX-License-Identifier: Apache-2.0
# Shared by the lint tests: TAP, the list of the project's files, the module table of ARCHITECTURE.md.

import os
import re
import sys

sys.dont_write_bytecode = True  # the source tree may be read-only, and stays clean

TOP = os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOP = os.path.abspath(TOP)
FOLDERS = ("src", "tests", "demo", "doc", "packaging", "jdks")
SUFFIXES = (".c", ".h", ".def", ".sh", ".py", ".java", ".js", ".css", ".md", ".1", ".awk", ".map", ".mk")
SINGLES = (
    "bootstrap", ".ci/run", "configure.ac", "Makefile.am", "README.md", "ARCHITECTURE.md", "HACKING.md", "SECURITY.md",
    "NEWS",
)

_count = 0
_failed = False


def check(description, faults):
    """One TAP result: passes when there are no faults; each fault is a comment line."""
    global _count, _failed
    faults = list(faults)
    _count += 1
    print("%s %d - %s" % ("not ok" if faults else "ok", _count, description))
    for fault in faults[:40]:
        print("# " + fault)
    _failed = _failed or bool(faults)


def skip(description, why):
    global _count
    _count += 1
    print("ok %d - %s # SKIP %s" % (_count, description, why))


def done():
    print("1..%d" % _count)
    sys.exit(1 if _failed else 0)


def files(*suffixes, under=FOLDERS):
    """The project's text files as sorted paths relative to the top. Generated files have other suffixes."""
    found = [] if suffixes else [f for f in SINGLES if os.path.exists(os.path.join(TOP, f))]
    for folder in under:
        for where, folders, names in os.walk(os.path.join(TOP, folder)):
            folders[:] = [f for f in folders if not f.startswith(".") and f not in ("classes", "corpus")]
            for name in names:
                if name.endswith(suffixes or SUFFIXES):
                    found.append(os.path.relpath(os.path.join(where, name), TOP))
    return sorted(found)


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def lines(path):
    return read(path).split("\n")


class Module:
    """A row of the module table: modules that it may include, and outside headers that only it may include."""

    def __init__(self, names, may, alone):
        self.names = names
        self.may = may
        self.alone = alone


def table_rows(page, column):
    """The cells of each row of the page's table whose first column has this heading."""
    rows = []
    inside = False
    for line in lines(page):
        if line.startswith("| %s |" % column):
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not line.startswith("| ---"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def module_table():
    return [Module(re.findall(r"[a-z]+", cells[0]), cells[1], re.findall(r"`([^`]+)`", cells[2]))
            for cells in table_rows("ARCHITECTURE.md", "module")]


def subfolders():
    """Folders below those of modules, as "sampler/signal"."""
    return [name for cells in table_rows("HACKING.md", "subfolder") for name in cells[0].split(", ")]
