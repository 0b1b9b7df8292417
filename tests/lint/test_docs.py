#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The documentation compared with the tree: files that it names exist, its tables match the code.

import os
import re

import lint

PAGES = [p for p in lint.files(".md") + ["README.md", "ARCHITECTURE.md", "HACKING.md", "SECURITY.md"] if os.path.exists(
    os.path.join(lint.TOP, p))]
# A path, with or without arguments; a page in the top folder; the target of a link.
NAMED = re.compile(r"`((?:src|tests|doc|demo)/[\w./-]+|[\w-]+\.(?:md|am|ac))(?: [^`]*)?`|\]\(([^)#:]+)(?:#[^)]*)?\)")
LINK = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")
MAKEFILES = "\n".join(lint.read(path) for path in ["Makefile.am"] + lint.files(".mk"))


def missing_files():
    for page in PAGES:
        for match in NAMED.finditer(lint.read(page)):
            name = match.group(1) or match.group(2)
            if re.search(r"NAME|THING|ARCH|MODULE|[*]", name) or name in ("doc/jhot.1", "doc/jhot.7"):
                continue
            beside = os.path.join(os.path.dirname(page), name)
            # a program is found by its source
            if not any(os.path.exists(os.path.join(lint.TOP, p)) for p in (name, beside, name + ".c")):
                yield "%s names %s, which is not there" % (page, name)


def anchors(page):
    """The anchors of a page's headings, which a link may name after #."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^    .*$", "", lint.read(page), flags=re.M), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def anchor_faults():
    for page in PAGES:
        for name, anchor in LINK.findall(lint.read(page)):
            to = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if to not in PAGES or anchor not in anchors(to):
                yield "%s: %s has no heading for #%s" % (page, to, anchor)


def record_faults():
    records = set(re.findall(r"^\s*X\((\w+), (?:0x)?[0-9a-f]+, wire_", lint.read("src/wire/record.h"), re.M))
    listed = set(re.findall(r"^\| ([A-Z_]+) \|", lint.read("doc/wire.md"), re.M))
    if not records:
        yield "no records found in src/wire/record.h"
    for name in sorted(records ^ listed):
        yield "record %s is only in %s" % (name, "record.h" if name in records else "wire.md")


def chunk_faults():
    chunks = re.findall(r"^\tCHUNK_([A-Z]+)\b", lint.read("src/recording/format.h"), re.M)
    listed = re.findall(r"^\| ([A-Z]+) \| (\d+) \|", lint.read("doc/recording.md"), re.M)
    if not chunks:
        yield "no chunks found in src/recording/format.h"
    if [(name, str(number)) for number, name in enumerate(chunks, 1)] != listed:
        yield "doc/recording.md lists %s, format.h %s" % (listed, " ".join(chunks))


def rule_faults():
    """The rules of findings, in the order of their table in the code."""
    rules = re.findall(r"^\t&rule_(\w+),", lint.read("src/findings/findings.c"), re.M)
    listed = re.findall(r"^\| `(\w+)` \|", lint.read("doc/findings.md"), re.M)
    if not rules:
        yield "no rules found in src/findings/findings.c"
    if rules != listed:
        yield "doc/findings.md lists %s, findings.c %s" % (" ".join(listed), " ".join(rules))


def target_faults():
    """`make NAME` in a page is a target of Makefile.am, of a local.mk, or a standard one."""
    common = {"check", "install", "uninstall", "dist", "distcheck", "clean", "all"}
    targets = set(re.findall(r"^([a-z0-9-]+):", MAKEFILES, re.M))
    for page in PAGES:
        for name in re.findall(r"`(?:\w+=\S+ )*make ([a-z0-9-]+)", lint.read(page)):
            if name not in common | targets:
                yield "%s: make %s is not a target" % (page, name)


def section(page, heading):
    """The text between a heading and the next."""
    return re.search(r"^## %s$(.*?)(?=^## |\Z)" % heading, lint.read(page), re.M | re.S).group(1)


def tool_faults():
    """`make` targets other than for building and checking are in HACKING.md, or among the checks of doc/release.md."""
    # Targets for other targets, scripts and tests.
    parts = {"check-programs", "sanitized-programs", "check-together", "check-alone", "check-long", "distfiles", "clean-packages", "clean-arm64"}
    tools = {name for line in re.findall(r"^\.PHONY:((?:.*\\\n)*.*)$", MAKEFILES, re.M) for name in line.replace("\\", "").split()}
    table = re.findall(r"^\|(.*?)\|", section("HACKING.md", "Tools"), re.M)
    table += re.findall(r"^\|.*?\|(.*?)\|", lint.read("doc/release.md"), re.M)
    named = {name for cell in table for name in re.findall(r"`make ([a-z0-9-]+)`", cell)}
    if len(tools) < 20:
        yield "only %d tools found in Makefile.am and what it includes" % len(tools)
    for name in sorted(tools - parts - named):
        yield "neither HACKING.md nor doc/release.md names make %s" % name
    for name in sorted(parts - tools):
        yield "%s is not a .PHONY target" % name


def frame_faults():
    """The special frames that jhot(7) explains exist in the code."""
    code = "\n".join(lint.read(path) for path in lint.files(".c", ".h", under=("src",)))
    names = set(re.findall(r"\[([a-z][a-z_ :]+)\]", lint.read("doc/jhot.7.in")))
    if len(names) < 10:
        yield "only %d special frames in doc/jhot.7.in" % len(names)
    for name in sorted(names):
        if "[%s]" % name not in code:
            yield "doc/jhot.7.in explains [%s], which is not in the code" % name


def address_faults():
    """Packages have no addresses but those of configure.ac."""
    own = re.search(r"AC_INIT\((.*)\)", lint.read("configure.ac")).group(1)
    paths = ["packaging/" + name for name in ("APKBUILD.in", "jhot.spec.in", "Containerfile", "debian/control", "debian/copyright")]
    for path in paths:
        # the first line of Debian's copyright file names its format
        for address in re.findall(r"^(?!Format:).*?(\w+://[^\s\"]*|[\w.]+@[\w-]+\.[\w.]+)", lint.read(path), re.M):
            if address not in own:
                yield "%s: %s is not in configure.ac" % (path, address)


lint.check("there are more than 3 pages", [] if len(PAGES) > 3 else ["only %d" % len(PAGES)])
lint.check("files that pages name exist", missing_files())
lint.check("links in pages lead to existing headings", anchor_faults())
lint.check("doc/wire.md lists the records of the wire", record_faults())
lint.check("doc/recording.md lists the chunks of a recording", chunk_faults())
lint.check("doc/findings.md lists the rules", rule_faults())
lint.check("make targets that pages name exist", target_faults())
lint.check("HACKING.md and doc/release.md name all tools", tool_faults())
lint.check("doc/jhot.7.in explains only frames that exist", frame_faults())
lint.check("packages have no addresses but jhot's own", address_faults())
lint.done()
