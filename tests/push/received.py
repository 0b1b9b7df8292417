#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Compares what receiver.py has accepted with the files that were pushed: received.py FOLDER FILE...
#
# The requests must hold the files' profiles, in this order, once each: all stacks with their weights, as decoded by
# tests/export/formats.py, which shares nothing with jhot's encoders. JHOT names the program. Exits with 1 on a difference.

import base64
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import formats  # noqa: E402

JHOT = os.environ["JHOT"]
EVENTS = dict(process_cpu="cpu", memory="alloc", mutex="lock", wall="wall")
TEMP = tempfile.mkdtemp()


def stored(data, name):
    path = os.path.join(TEMP, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


def pprof(data):
    """(event, stacks) of one profile."""
    profile = formats.Pprof(stored(data, "a.pb.gz"))
    event = next(c[len("event="):] for c in profile.comments if c.startswith("event="))
    assert profile.duration > 0
    return event, profile.stacks


def otlp(request, body):
    assert request["headers"]["Content-Type"] == "application/x-protobuf"
    decoded = formats.Otlp(stored(body, "a.otlp"))
    assert decoded.resource["service.name"]
    for profile in decoded.profiles[::2]:  # of weights; those of counts follow
        assert profile["time"] > 1577836800 * 10 ** 9
        yield profile["facts"]["jhot.event"], profile["stacks"]


def ingest(request, body):
    query = urllib.parse.parse_qs(urllib.parse.urlparse(request["path"]).query, strict_parsing=True)
    (name,), (start,), (end,) = query["name"], query["from"], query["until"]
    assert query["format"] == ["pprof"] and "{" in name and name.endswith("}"), name
    assert 1577836800 < int(start) < int(end)
    yield pprof(body)


def series(request, body):
    assert request["headers"]["Content-Type"] == "application/json"
    for one in json.loads(body)["series"]:
        labels = {label["name"]: label["value"] for label in one["labels"]}
        assert len(labels) == len(one["labels"]) and labels["service_name"]
        (sample,) = one["samples"]
        event, stacks = pprof(base64.b64decode(sample["rawProfile"], validate=True))
        assert EVENTS[labels["__name__"]] == event
        yield event, stacks


def received(folder):
    for name in sorted(glob.glob(os.path.join(folder, "*.json"))):
        request = json.load(open(name))
        body = open(name[:-len("json")] + "body", "rb").read()
        if request["headers"].get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        path = urllib.parse.urlparse(request["path"]).path
        yield from (otlp if path.endswith("profiles") else ingest if path.endswith("ingest") else series)(request, body)


def written(paths):
    for path in paths:
        for event in ("cpu", "alloc", "lock", "wall"):
            text = subprocess.run([JHOT, "convert", "-e", event, "--total", "--dot", "-o", "-", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            stacks = formats.collapsed(stored(text, "a.collapsed"))
            if stacks:
                yield event, stacks


count = 0
want = list(written(sys.argv[2:]))
got = [(event, collections.Counter({k: v for k, v in stacks.items() if v})) for event, stacks in received(sys.argv[1])]
print("# %d profiles of %d files, %d received" % (len(want), len(sys.argv) - 2, len(got)))
if got != want:
    for number, (a, b) in enumerate(zip(got, want)):
        if a != b:
            print("# profile %d differs: %s of %d, wanted %s of %d" % (number, a[0], sum(a[1].values()), b[0], sum(b[1].values())))
sys.exit(not want or got != want)
