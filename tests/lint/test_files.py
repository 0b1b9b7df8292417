#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Every file: licence, purpose, length, white space, and no traces of a developer's machine.

import re

import lint

FILE_LIMIT = 600
FUNCTION_LIMIT = 60
LONG_OK = "tests/lint/long"

# Paths of a developer's machine, and traces that tools leave in generated texts.
PRIVATE = re.compile(r"(?<![\w.$}~)])/(home|root|work|mnt|Users)/\w|(?i:co-authored-by|generated (?:by|with) )")
PRIVATE_OK = re.compile(r"/home/(user|me|USER)\b|HOME:-/root")


def head(path):
    """The first comment of a file: its lines without comment marks; a #! line is skipped."""
    text = [line for line in lint.lines(path)[:12] if not line.startswith("#!")]
    return [re.sub(r"^(/\*|\*/| \*/| \*|//|#|\.\\\"|<!--)\s?|\s*(\*/|-->)$", "", line).strip() for line in text]


def spdx_faults(paths):
    for path in paths:
        if "SPDX-License-Identifier: Apache-2.0" not in head(path)[0]:
            yield path + ": the first line is not the SPDX line"


def purpose_faults(paths):
    for path in paths:
        words = [line for line in head(path)[1:6] if line]
        if not words or len(words[0].split()) < 3:
            yield path + ": no sentence of purpose after the SPDX line"


def guard_faults(paths):
    for path in paths:
        guard = "JHOT_" + re.sub(r"\W", "_", path.split("/", 1)[1]).upper()
        if path.startswith("src/") and "#ifndef %s\n#define %s\n" % (guard, guard) not in lint.read(path):
            yield "%s: no include guard %s" % (path, guard)


def space_faults(paths):
    for path in paths:
        text = lint.read(path)
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield "%s:%d: white space at the end" % (path, number)
        if not text.endswith("\n") or text.endswith("\n\n"):
            yield path + ": must end with exactly one newline"


def private_faults(paths):
    for path in paths:
        if path == "tests/lint/test_files.py":
            continue
        for number, line in enumerate(lint.lines(path), 1):
            if PRIVATE.search(PRIVATE_OK.sub("", line)):
                yield "%s:%d: names one machine or tool: %s" % (path, number, line.strip()[:80])


def functions(path):
    """(name, lines) of each function, whose body is between { and } in the first column."""
    start = None
    name = "?"
    for number, line in enumerate(lint.lines(path), 1):
        named = re.match(r"[a-zA-Z_].*?(\w+)\(", line)
        if named and start is None:
            name = named.group(1)
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            yield name, number - start - 1
            start = None


def long_list():
    """FILE FUNCTION REASON, one exception per line; FUNCTION is - for the file itself."""
    listed = {}
    for line in lint.lines(LONG_OK):
        if line and not line.startswith("#"):
            path, function, reason = line.split(None, 2)
            listed[path, function] = reason
    return listed


def length_faults(paths):
    listed = long_list()
    long = {}
    for path in paths:
        size = len(lint.lines(path)) - 1
        if size > FILE_LIMIT:
            long[path, "-"] = size
        if path.endswith((".c", ".h")):
            long.update({(path, name): n for name, n in functions(path) if n > FUNCTION_LIMIT})
    for (path, name), size in long.items():
        if (path, name) not in listed:
            what = "the file" if name == "-" else name
            yield "%s: %s has %d lines; shorten it, or list it with a reason in %s" % (path, what, size, LONG_OK)
    for path, name in listed:
        if (path, name) not in long:
            yield "%s: %s %s is listed and not long (any more)" % (LONG_OK, path, name)


every = lint.files()
code = lint.files(".c", ".h", ".def", ".sh", ".py", ".java", ".js", ".css", ".awk", ".mk") + ["bootstrap", ".ci/run"]
lint.check("there are more than 20 source files", [] if len(code) > 20 else ["only %d" % len(code)])
lint.check("each source file begins with the SPDX line", spdx_faults(code))
lint.check("each source file has a sentence of purpose", purpose_faults(code))
lint.check("include guards are named after the file", guard_faults(lint.files(".h")))
lint.check("no file has trailing white space or lacks a final newline", space_faults(every))
lint.check("no file names a developer's machine or tool", private_faults(every))
lint.check("files have at most %d lines, functions at most %d" % (FILE_LIMIT, FUNCTION_LIMIT),
           length_faults([p for p in code if not p.startswith("demo/")]))
lint.done()
