#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Layering: every #include in src/ conforms to the module table of ARCHITECTURE.md, every folder is in the table of subfolders
# of HACKING.md, and there are no include cycles.

import fnmatch
import os
import re

import lint

ROWS = lint.module_table()
MODULES = {name: row for row in ROWS for name in row.names}
SUBFOLDER_LIMIT = 30
CIRCLE_LIMIT = 3
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(lint.lines(path), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def allowed(module, header):
    """True if a file of this module may include this header of the project."""
    words = re.findall(r"[a-z]+", MODULES[module].may.partition("(")[0])
    folder = header.split("/")[0]
    return folder == module or folder in words or "all" in words


def own_faults(sources):
    for path in sources:
        module = path.split("/")[1]
        for number, kind, header in includes(path):
            if header == "config.h":
                continue
            if kind == '"' and "/" not in header:
                yield '%s:%d: "%s": write the module too, "%s/%s"' % (path, number, header, module, header)
            elif header.split("/")[0] in MODULES and not allowed(module, header):
                yield "%s:%d: %s may not include %s" % (path, number, module, header)


def outside_faults(sources):
    """A header in the last column is included only by the modules, or the file, in whose row it is."""
    owners = {}
    for row in ROWS:
        for entry in row.alone:
            pattern, _, only = entry.partition(" in ")
            owners.setdefault(pattern, []).append((row, only))
    for path in sources:
        module = path.split("/")[1]
        for number, _, header in includes(path):
            for pattern, who in owners.items():
                if not fnmatch.fnmatchcase(header, pattern):
                    continue
                if not any(module in row.names and (not only or path == "src/" + only) for row, only in who):
                    yield "%s:%d: %s belongs to another module" % (path, number, header)


def subfolder_faults(sources):
    folders = {}
    for path in sources:
        folders.setdefault(os.path.dirname(path)[len("src/"):], []).append(path)
    listed = lint.subfolders()
    for folder, files in folders.items():
        if "/" in folder and folder not in listed:
            yield "src/%s is not in HACKING.md's table of subfolders" % folder
        if len(files) > SUBFOLDER_LIMIT:
            yield "src/%s has %d files; a subfolder has %d at most" % (folder, len(files), SUBFOLDER_LIMIT)
    for folder in listed:
        if folder.split("/")[0] in folders and folder not in folders:
            yield "HACKING.md has a subfolder %s, which does not exist" % folder


def circles(graph):
    """Groups of files that all reach each other by #include; a header and the source with the same name count as one."""
    reach = {}

    def reached(unit):
        if unit not in reach:
            seen, todo = set(), [unit]
            while todo:
                for other in graph.get(todo.pop(), ()):
                    if other not in seen:
                        seen.add(other)
                        todo.append(other)
            reach[unit] = seen
        return reach[unit]

    left = set(graph)
    while left:
        unit = min(left)
        group = {unit} | {other for other in reached(unit) if unit in reached(other)}
        left -= group
        if len(group) > 1:
            yield sorted(group)


def circle_faults(sources):
    graph = {}
    for path in sources:
        graph.setdefault(path[len("src/"):-2], set()).update(
            header[:-2] for _, kind, header in includes(path) if kind == '"' and "/" in header)
    for group in circles(graph):
        if len(group) > CIRCLE_LIMIT:
            yield "%s include each other: %d at most" % (" ".join(group), CIRCLE_LIMIT)
        if len({os.path.dirname(unit) for unit in group}) > 1:
            yield "%s include each other across folders" % " ".join(group)


sources = lint.files(".c", ".h", under=("src",))
modules = sorted({path.split("/")[1] for path in sources})
lint.check("the module table has more than 5 rows", [] if len(ROWS) > 5 else ["ARCHITECTURE.md has no module table"])
lint.check("every folder of src/ is in the module table",
           ["src/%s is not in ARCHITECTURE.md" % m for m in modules if m not in MODULES])
known = [path for path in sources if path.split("/")[1] in MODULES]
lint.check("every subfolder is in the table of subfolders, and has at most 30 files", subfolder_faults(known))
lint.check("modules include only what the module table allows", own_faults(known))
lint.check("no include cycle crosses folders or has more than %d files" % CIRCLE_LIMIT, circle_faults(known))
lint.check("outside headers are included only where the module table allows", outside_faults(known))
lint.check("every module has a header or a main.c", [
    "src/%s has neither" % m for m in modules
    if not any(f.endswith((".h", "/main.c")) for f in sources if f.split("/")[1] == m)])
lint.done()
