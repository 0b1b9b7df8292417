#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The pages against the tree: files that they name exist, tables list what the code lists.

import os
import re

import lint

PAGES = [p for p in lint.files(".md") + ["README.md", "ARCHITECTURE.md", "HACKING.md"] if os.path.exists(
    os.path.join(lint.TOP, p))]
NAMED = re.compile(r"`((?:src|tests|doc|demo)/[\w./-]+\.[\w.]+|[\w-]+\.(?:md|am|ac))`|\]\(([^)#:]+)\)")


def missing_files():
    for page in PAGES:
        for match in NAMED.finditer(lint.read(page)):
            name = match.group(1) or match.group(2)
            if re.search(r"NAME|THING|ARCH|MODULE|[*]", name) or name == "doc/jhot.1":
                continue
            beside = os.path.join(os.path.dirname(page), name)
            if not any(os.path.exists(os.path.join(lint.TOP, p)) for p in (name, beside)):
                yield "%s names %s, which is not there" % (page, name)


def record_faults():
    records = set(re.findall(r"^\s*X\((\w+), (?:0x)?[0-9a-f]+, wire_", lint.read("src/wire/layout.h"), re.M))
    listed = set(re.findall(r"^\| ([A-Z_]+) \|", lint.read("doc/wire.md"), re.M))
    if not records:
        yield "no records found in src/wire/layout.h"
    for name in sorted(records ^ listed):
        yield "record %s stands only in %s" % (name, "layout.h" if name in records else "wire.md")


def target_faults():
    """`make NAME` in a page is a target of Makefile.am, of a local.mk, or one that every Makefile has."""
    common = {"check", "install", "uninstall", "dist", "distcheck", "clean", "all"}
    makefiles = ["Makefile.am"] + lint.files(".mk")
    targets = {name for path in makefiles for name in re.findall(r"^([a-z-]+):", lint.read(path), re.M)}
    for page in PAGES:
        for name in re.findall(r"`make ([a-z-]+)", lint.read(page)):
            if name not in common | targets:
                yield "%s: make %s is no target" % (page, name)


lint.check("there are pages", [] if len(PAGES) > 3 else ["only %d" % len(PAGES)])
lint.check("files that pages name exist", missing_files())
lint.check("doc/wire.md lists the records of the wire", record_faults())
lint.check("make targets that pages name exist", target_faults())
lint.done()
