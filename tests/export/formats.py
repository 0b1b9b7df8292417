# SPDX-License-Identifier: Apache-2.0
# Independent decoders of jhot's output formats: each file as {event: {stack: value}}, stacks as in the collapsed format
# with dots. They follow the published descriptions of the formats and share nothing with jhot's encoders.

import collections
import gzip
import json
import re
import struct


def join(frames):
    return ";".join(frame.replace(";", ",") for frame in frames)


def collapsed(path):
    stacks = collections.Counter()
    for line in open(path, encoding="utf-8", newline="\n"):
        stack, value = line.rstrip("\n").rsplit(" ", 1)
        stacks[";".join(f[:-4] if f.endswith("_[k]") else f for f in stack.split(";"))] += int(value)
    return stacks


def speedscope(path):
    file = json.load(open(path, encoding="utf-8"))
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    assert len(set(frames)) == len(frames), "a frame is there twice"
    assert 0 <= file["activeProfileIndex"] < len(file["profiles"])
    events = {}
    for profile in file["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] in ("nanoseconds", "bytes", "none")
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        stacks = events[profile["name"]] = collections.Counter()
        for sample, weight in zip(profile["samples"], profile["weights"]):
            stacks[join(frames[i] for i in sample)] += weight
    return events


# --- pprof ---------------------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a message; a value is a number or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
            yield key >> 3, value
            continue
        value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field ends behind its message"
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0, "wire type %d" % (key & 7)
        yield key >> 3, value


def message(data):
    out = collections.defaultdict(list)
    for number, value in fields(data):
        out[number].append(value)
    return out


def numbers(packed):
    at, out = 0, []
    while at < len(packed):
        value, at = varint(packed, at)
        out.append(value)
    return out


class Pprof:
    def __init__(self, path):
        top = message(gzip.open(path).read())
        self.strings = [text.decode("utf-8") for text in top[6]]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        functions = [message(m) for m in top[5]]
        locations = [message(m) for m in top[4]]
        assert [f[1][0] for f in functions] == list(range(1, len(functions) + 1)), "functions count up from 1"
        assert sorted(m[1][0] for m in locations) == list(range(1, len(locations) + 1))
        names = {f[1][0]: self.text(f[2]) for f in functions}
        frame = {m[1][0]: names[message(m[4][0])[1][0]] for m in locations}
        self.types = [tuple(self.text(message(m)[i]) for i in (1, 2)) for m in top[1]]
        self.default = self.text(top[14])
        self.period = top[12][0] if top[12] else 0
        self.duration = top[10][0] if top[10] else 0
        self.comments = [self.strings[i] for m in top[13] for i in numbers(m)]
        self.stacks, self.counts, self.labels, self.samples = collections.Counter(), collections.Counter(), set(), []
        for sample in (message(m) for m in top[2]):
            stack = join(reversed([frame[i] for i in numbers(sample[1][0])])) if sample[1] else "[unknown]"
            count, weight = numbers(sample[2][0])
            self.counts[stack] += count
            self.stacks[stack] += weight
            labels = [(self.text(label[1]), self.text(label[2]) if label[2] else label[3][0])
                      for label in (message(m) for m in sample[3])]
            self.labels |= set(labels)
            self.samples.append((stack, dict(labels), count, weight))

    def text(self, number):
        return self.strings[number[0]] if number else ""


def pprof_raw(text):
    """The stacks in the output of `go tool pprof -raw`, Google's own decoder."""
    stacks, counts, samples, frames, part = collections.Counter(), collections.Counter(), [], {}, ""
    for line in text.splitlines():
        if line.rstrip(":") in ("Samples", "Locations", "Mappings"):
            part = line.rstrip(":")
        elif part == "Samples" and re.match(r" *[0-9]+ +[0-9]+: [0-9 ]*$", line):
            values, locations = line.split(":")
            samples.append((*map(int, values.split()), locations.split()))
        elif part == "Locations":
            number, name = re.match(r" *([0-9]+): 0x[0-9a-f]+ M=[0-9]+ (.*) [^ ]*:[0-9]+ s=", line).groups()
            frames[number] = name
    for count, weight, locations in samples:
        stack = join(frames[i] for i in reversed(locations))
        counts[stack] += count
        stacks[stack] += weight
    return stacks, counts


# --- OTLP ----------------------------------------------------------------------------------------------------

class Otlp:
    """Checks the tables by the published rules: entry 0 is empty, there are no duplicates, each entry is used."""

    MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS = range(1, 8)

    def __init__(self, path):
        top = message(open(path, "rb").read())
        assert sorted(top) == [1, 2] and len(top[1]) == len(top[2]) == 1
        self.tables = message(top[2][0])
        self.used = {table: {0} for table in range(1, 8)}
        self.locations = {}
        for table in range(1, 8):
            entries = self.tables[table]
            zero = message(entries[0]) if table == self.LINKS else {}
            assert zero == ({1: [bytes(16)], 2: [bytes(8)]} if table == self.LINKS else {}) and (zero or not entries[0])
            assert len(set(entries)) == len(entries), "table %d has an entry twice" % table
        resources = message(top[1][0])
        self.resource = dict(self.key_value(a) for a in message(resources[1][0])[1])
        assert len(self.resource) == len(message(resources[1][0])[1]), "an attribute of the resource is there twice"
        scopes = message(resources[2][0])
        self.profiles = [self.profile(message(p)) for p in scopes[2]]
        for table, used in self.used.items():
            assert used == set(range(len(self.tables[table]))), "table %d has entries that nothing uses" % table

    def get(self, table, number):
        assert 0 <= number < len(self.tables[table])
        self.used[table].add(number)
        return self.tables[table][number]

    def text(self, number):
        return self.get(self.STRINGS, number[0]).decode("utf-8") if number else ""

    @staticmethod
    def any_value(data):
        ((kind, value),) = fields(data)
        return value.decode("utf-8") if kind == 1 else value

    def key_value(self, data):
        m = message(data)
        return m[1][0].decode("utf-8"), self.any_value(m[2][0])

    def attributes(self, packed):
        rows = [message(self.get(self.ATTRIBUTES, i)) for i in numbers(packed[0])] if packed else []
        out = {self.text(m[1]): self.any_value(m[2][0]) for m in rows}
        assert len(out) == len(rows), "a key twice"
        return out

    def location(self, number):
        if number not in self.locations:
            self.locations[number] = self.read_location(number)
        return self.locations[number]

    def read_location(self, number):
        m = message(self.get(self.LOCATIONS, number))
        (line,) = m[3]
        function = message(self.get(self.FUNCTIONS, message(line)[1][0] if message(line)[1] else 0))
        if m[1]:
            self.text(message(self.get(self.MAPPINGS, m[1][0]))[4])
        self.text(function[2])
        kind = self.attributes(m[4]).get("profile.frame.type")
        assert kind in (None, "jvm", "native", "kernel")
        return self.text(function[1])

    def type(self, data):
        return tuple(self.text(message(data)[i]) for i in (1, 2))

    def profile(self, m):
        out = dict(type=self.type(m[1][0]), period_type=self.type(m[5][0]), time=(m[3] or [0])[0], duration=(m[4] or [0])[0],
                   period=(m[6] or [0])[0], facts=self.attributes(m[11]), stacks=collections.Counter(), labels=set(), samples=[])
        identities = set()
        for sample in map(message, m[2]):
            stack = sample[1][0] if sample[1] else 0
            link = message(self.get(self.LINKS, sample[3][0])) if sample[3] else None
            identity = stack, tuple(sorted(numbers(sample[2][0]))) if sample[2] else (), tuple(sample[3])
            assert identity not in identities, "two samples with the same stack, attributes and link"
            identities.add(identity)
            locations = message(self.get(self.STACKS, stack))[1]
            (value,) = numbers(sample[4][0])
            names = [self.location(i) for i in numbers(locations[0])] if locations else []
            out["stacks"][join(reversed(names)) or "[unknown]"] += value
            out["labels"] |= set(self.attributes(sample[2]).items())
            span = (link[1][0].hex(), link[2][0].hex()) if link else None
            out["samples"].append((join(reversed(names)), self.attributes(sample[2]), span, value))
        return out


# --- flight recordings -----------------------------------------------------------------------------------------

class Jfr:
    """Decodes a file by the types in its own metadata."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        magic, major, _, size, constants, metadata, self.start, self.duration, _, ticks, flags = struct.unpack(
            ">4sHHQQQQQQQI", self.data[:68])
        assert (magic, major, size, ticks, flags) == (b"FLR\0", 2, len(self.data), 10 ** 9, 1)
        self.read_metadata(metadata)
        self.pools = {}
        self.events = collections.defaultdict(list)
        self.at = 68
        blocks = []
        while self.at < size:
            begin = self.at
            length = self.number()
            blocks.append((begin, self.number(), self.at, begin + length))
            self.at = begin + length
        assert self.at == size, "the last block ends behind the file"
        assert [b[0] for b in blocks if b[1] == 1] == [constants]
        for _, kind, at, end in sorted(blocks, key=lambda b: b[1]):
            self.at = at
            if kind == 1:
                self.read_constants()
            elif kind > 1:
                self.events[self.types[kind]["name"]].append(self.record(kind))
            assert kind == 0 or self.at == end, "a block of type %d is not as long as it says" % kind

    def number(self):
        value = 0
        for i in range(9):
            byte = self.data[self.at]
            self.at += 1
            if i == 8:
                return value | byte << 56
            value |= (byte & 127) << 7 * i
            if byte < 128:
                return value

    def string(self):
        kind = self.data[self.at]
        self.at += 1
        if kind < 2:
            return [None, ""][kind]
        assert kind == 3
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at].decode("utf-8")

    def read_metadata(self, at):
        self.at = at
        self.number()
        assert self.number() == 0
        for _ in range(3):
            self.number()
        words = [self.string() for _ in range(self.number())]

        def element():
            name = words[self.number()]
            attributes = {words[self.number()]: words[self.number()] for _ in range(self.number())}
            return name, attributes, [element() for _ in range(self.number())]

        self.types = {int(a["id"]): dict(a, fields=[f[1] for f in children if f[0] == "field"])
                      for _, a, children in element()[2][0][2]}

    def read_constants(self):
        for _ in range(3):
            self.number()
        self.at += 1
        for _ in range(self.number()):
            kind, count = self.number(), self.number()
            assert count, "an empty pool"
            pool = self.pools[kind] = {}
            for _ in range(count):
                key = self.number()
                pool[key] = self.record(kind)

    def value(self, field):
        kind = int(field["class"])
        name = self.types[kind]["name"]
        if field.get("constantPool"):
            return kind, self.number()
        if name == "java.lang.String":
            return self.string()
        if name == "boolean":
            self.at += 1
            return bool(self.data[self.at - 1])
        if name == "float":
            self.at += 4
            return struct.unpack(">f", self.data[self.at - 4:self.at])[0]
        return self.number() if name in ("int", "long") else self.record(kind)

    def record(self, kind):
        out = {}
        for field in self.types[kind]["fields"]:
            many = range(self.number()) if field.get("dimension") else None
            out[field["name"]] = self.value(field) if many is None else [self.value(field) for _ in many]
        return out["string"] if self.types[kind]["name"] == "jdk.types.Symbol" else out

    def get(self, reference):
        kind, key = reference
        return self.pools[kind][key] if key else None

    def class_name(self, reference):
        """As in source code: byte[] for [B."""
        name = self.get(self.get(reference)["name"]) if reference[1] else ""
        dims = len(name) - len(name.lstrip("["))
        letters = dict(B="byte", C="char", D="double", F="float", I="int", J="long", S="short", Z="boolean")
        if dims:
            name = letters.get(name[dims:]) or name[dims + 1:-1]
        return name.replace("/", ".") + "[]" * dims

    def stack(self, event, leaf=None):
        trace = self.get(event["stackTrace"])
        names = []
        for frame in reversed(trace["frames"] if trace else []):
            method = self.get(frame["method"])
            owner = self.class_name(method["type"])
            names.append((owner + "." if owner else "") + self.get(method["name"]))
        if leaf and leaf[1]:
            names.append(self.class_name(leaf))
        return join(names) or "[unknown]"

    def stacks(self, name, value=None, leaf=None):
        out = collections.Counter()
        for event in self.events[name]:
            out[self.stack(event, event[leaf] if leaf else None)] += event[value] if value else 1
        return out

    def settings(self):
        return {e["name"]: e["value"] for e in self.events["jdk.ActiveSetting"]}
