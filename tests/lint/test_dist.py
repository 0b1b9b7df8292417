#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The tarball contains every file of the tree.

import os
import subprocess

import lint

BUILD = os.environ.get("builddir", ".")


def dist_files():
    output = subprocess.run(["make", "-s", "--no-print-directory", "-C", BUILD, "distfiles"], text=True,
                            stdout=subprocess.PIPE, check=True,
                            env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")})
    return {os.path.relpath(os.path.join(BUILD, name), lint.TOP) if name.startswith(("/", ".."))
            else os.path.normpath(name) for name in output.stdout.split()}


def forgotten(listed):
    folders = tuple(name + "/" for name in listed if os.path.isdir(os.path.join(lint.TOP, name)))
    for where, folders_here, names in os.walk(lint.TOP):
        folders_here[:] = [f for f in folders_here if not f.startswith((".", "build", "autom4te", "__"))
                           and not os.path.exists(os.path.join(where, f, "config.status"))]
        top = os.path.relpath(where, lint.TOP)
        if top == "." or top.split("/")[0] not in lint.FOLDERS:
            continue
        for name in names:
            path = os.path.join(top, name)
            generated = name.endswith((".o", ".a", ".lo", ".log", ".trs", ".Po", ".stamp", ".class")) or name == ".dirstamp"
            if not generated and path not in listed and not path.startswith(folders) and not is_program(path):
                yield path + " is in no _SOURCES and not in EXTRA_DIST: the tarball would lack it"


def is_program(path):
    """True for a test program that was built in the source tree."""
    with open(os.path.join(lint.TOP, path), "rb") as f:
        return f.read(4) == b"\x7fELF"


listed = dist_files()
lint.check("make distfiles lists more than 50 files", [] if len(listed) > 50 else sorted(listed))
lint.check("every file of the tree is distributed", forgotten(listed))
lint.check("every distributed file exists", [
    name + " is listed and not there" for name in sorted(listed)
    if not os.path.exists(os.path.join(lint.TOP, name)) and not os.path.exists(os.path.join(BUILD, name))])
lint.done()
