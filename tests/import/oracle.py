# SPDX-License-Identifier: Apache-2.0
# Converts the output of the JDK's own `jfr print --json` to collapsed stacks with dots and threads: oracle.py JSON FILE
# EVENT,... [VALUE [CLASS]] [from to]. JSON is the output, FILE the recording. VALUE: the field to sum, instead of the number
# of events; CLASS: the field that is the leaf.

import collections
import datetime
import json
import re
import struct
import sys


def name_of(text):
    """A class as jhot writes it."""
    text = text.replace("/", ".")
    dims = len(text) - len(text.lstrip("["))
    letters = dict(B="byte", C="char", D="double", F="float", I="int", J="long", S="short", Z="boolean")
    if dims:
        text = letters.get(text[dims:]) or text[dims + 1:-1]
    return text + "[]" * dims


def value_of(value):
    if isinstance(value, str):  # a duration
        hours, minutes, seconds = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", value).groups()
        return round(int(hours or 0) * 3600e9 + int(minutes or 0) * 60e9 + float(seconds or 0) * 1e9)
    return value


def nanoseconds(text):
    """jfr omits seconds that are 0."""
    minute, second, digits, zone = re.fullmatch(r"([\d-]+T\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(.*)", text).groups()
    at = datetime.datetime.fromisoformat(minute + ":" + (second or "00") + zone.replace("Z", "+00:00")).timestamp()
    return int(at) * 10 ** 9 + int((digits or "").ljust(9, "0")[:9])


def thread_of(event):
    thread = event.get("sampledThread") or event.get("eventThread") or {}
    name = thread.get("javaName") or thread.get("osName") or ""
    if thread.get("virtual"):
        return "[%s]" % (name and "%s #%d" % (name, thread["javaThreadId"]) or "virtual-#%d" % thread["javaThreadId"])
    mark = "tid=%d" % thread.get("osThreadId", 0)
    return "[%s]" % (name and name + " " + mark or mark)  # a thread that is just starting may have neither a name nor an id


def stack_of(event, leaf):
    frames = []
    for frame in reversed((event.get("stackTrace") or {}).get("frames", [])):
        method = frame["method"]
        frames.append(name_of(method["type"]["name"]) + "." + method["name"])
    if leaf and event.get(leaf):
        frames.append(name_of(event[leaf]["name"]))
    return frames or ["[unknown]"]


def start_of(path):
    return struct.unpack(">Q", open(path, "rb").read()[32:40])[0]


def main(printed, path, events, value=None, leaf=None, begin=None, end=None):
    start = start_of(path)
    stacks = collections.Counter()
    for event in json.load(open(printed))["recording"]["events"]:
        if event["type"] not in events.split(","):
            continue
        event = event["values"]
        second = (nanoseconds(event["startTime"]) - start) // 10 ** 9
        if begin is not None and not int(begin) <= second < int(end):
            continue
        line = ";".join([thread_of(event)] + stack_of(event, leaf))
        stacks[line] += value_of(event[value]) if value else 1
    for stack, number in sorted(stacks.items()):
        if number:
            print(stack, number)


if __name__ == "__main__":
    main(*[a or None for a in sys.argv[1:]])
