# SPDX-License-Identifier: Apache-2.0
# Headless Chromium for tests: a small WebDriver client, a web server with canned responses, and screenshots as pixels.

import base64
import contextlib
import http.server
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zlib

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "Down": "\ue015", "Up": "\ue013",
        "Left": "\ue012", "Right": "\ue014", "PageDown": "\ue00f"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

_count = 0
_failed = 0


def ok(good, what, *details):
    global _count, _failed
    _count += 1
    _failed += not good
    print("%sok %d - %s" % ("" if good else "not ", _count, what), flush=True)
    for detail in details if not good else ():
        print("# " + str(detail).replace("\n", "\n# "), flush=True)
    return good


def equal(got, want, what):
    return ok(got == want, what, "got  %r" % (got,), "want %r" % (want,))


def diag(text):
    print("# " + text, flush=True)


def skip_all(why):
    print("1..0 # SKIP " + why)
    sys.exit(0)


def done():
    print("1..%d" % _count)
    sys.exit(1 if _failed else 0)


class Picture:
    """An 8-bit RGB or RGBA PNG as rows of bytes."""

    def __init__(self, png):
        at, packed = 8, b""
        while at < len(png):
            size, kind = struct.unpack(">I4s", png[at:at + 8])
            data = png[at + 8:at + 8 + size]
            if kind == b"IHDR":
                self.width, self.height, _, color = struct.unpack(">IIBB", data[:10])
            elif kind == b"IDAT":
                packed += data
            at += 12 + size
        self.step = 4 if color == 6 else 3
        self.rows = self._rows(zlib.decompress(packed))

    def _rows(self, raw):
        rows, size, before = [], self.width * self.step, bytes(self.width * self.step)
        for y in range(self.height):
            kind, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
            for i in range(size):
                left = row[i - self.step] if i >= self.step else 0
                corner = before[i - self.step] if i >= self.step else 0
                guess = (0, left, before[i], (left + before[i]) // 2, self._paeth(left, before[i], corner))[kind]
                row[i] = (row[i] + guess) & 255
            rows.append(bytes(row))
            before = row
        return rows

    @staticmethod
    def _paeth(a, b, c):
        p = a + b - c
        return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]

    def at(self, x, y):
        row = self.rows[int(y)]
        return tuple(row[int(x) * self.step:int(x) * self.step + 3])


class Browser:
    """One Chromium window. Scripts and waits raise on failure; close() removes the profile folder."""

    def __init__(self, width=1200, height=700, dark=False):
        self.driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not self.driver or not chromium:
            skip_all("no chromium and chromedriver (Debian: chromium chromium-driver)")
        self.folder = tempfile.mkdtemp(prefix="jhot-browser-")
        self.process = subprocess.Popen([self.driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        port = None
        for line in self.process.stdout:
            if "started successfully on port" in line:
                port = line.split("port")[1].strip(" .\n")
                break
        self.url = "http://127.0.0.1:" + str(port)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                     "--disable-dev-shm-usage", "--force-device-scale-factor=1", "--user-data-dir=" + self.folder]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        capabilities = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                        "goog:chromeOptions": {"binary": chromium, "args": arguments}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = "/session/" + answer["sessionId"]
        self.size(width, height)

    def _call(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode()[:500]) from None

    def close(self):
        try:
            self._call("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, url):
        self._call("POST", self.session + "/url", {"url": url})

    def size(self, width, height):
        self._call("POST", self.session + "/window/rect", {"width": width, "height": height})

    def run(self, script, *args):
        return self._call("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def later(self, script):
        """The value that a script passes to its last argument, a callback."""
        return self._call("POST", self.session + "/execute/async", {"script": script, "args": []})

    def wait(self, script, what, seconds=30):
        """Waits until the expression is true, and for two frames, so that later steps see the result."""
        until = time.monotonic() + seconds
        while not self.run("return !!(%s)" % script):
            if time.monotonic() > until:
                raise RuntimeError("still not so after %d s: %s" % (seconds, what))
            time.sleep(0.02)
        self._call("POST", self.session + "/execute/async", {
            "script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(1)));",
            "args": []})

    def key(self, *keys):
        actions = []
        for key in keys:
            code = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": code}, {"type": "keyUp", "value": code}]
        self._call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def act(self, actions):
        self._call("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def pointer(self, x, y, click=False):
        actions = [{"type": "pointerMove", "x": int(x), "y": int(y), "origin": "viewport", "duration": 0}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.act(actions)

    def png(self):
        return base64.b64decode(self._call("GET", self.session + "/screenshot"))

    def picture(self):
        return Picture(self.png())

    def part(self, x, y, width, height):
        """A picture of a part of the page, which is faster to read than all of it."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        answer = self._call("POST", self.session + "/goog/cdp/execute",
                            {"cmd": "Page.captureScreenshot", "params": {"format": "png", "clip": clip}})
        return Picture(base64.b64decode(answer["data"]))

    def complaints(self):
        """Console messages since the last call."""
        log = self._call("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if "favicon" not in entry["message"]]


class Server:
    """Answers each path with (type, headers, bytes); on a port of its own until closed."""

    def __init__(self, answers):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = answers.get(self.path.split("?")[0])
                self.send_response(200 if found else 404)
                if found:
                    self.send_header("Content-Type", found[0])
                    for name, value in found[1].items():
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(found[2] if found else b"")

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


ROW = 20


class Graph:
    """The live view of one flame-graph file; levels are counted from the root."""

    def __init__(self, b):
        self.b = b

    def open(self, url):
        self.b.open("about:blank")
        self.b.open(url)
        self.b.wait("document.querySelector('#graph') && document.getElementById('name').textContent", "the live view")

    def text(self, name):
        return self.b.run("return document.getElementById(arguments[0]).textContent", name)

    def hash(self):
        return self.b.run("return decodeURIComponent(location.hash)")

    def box(self):
        return self.b.run("const r = document.querySelector('#graph').getBoundingClientRect();"
                          "return [r.left, r.top, r.width, r.height]")

    def point(self, share, level, flipped=False):
        left, top, width, height = self.box()
        y = height - 4 - (level + 0.5) * ROW if flipped else 4 + (level + 0.5) * ROW
        return left + share * (width - 10), top + y

    def hover(self, share, level):
        self.b.pointer(*self.point(share, level))

    def click(self, share, level, flipped=False):
        self.b.pointer(*self.point(share, level, flipped), click=True)

    def search(self, text):
        self.b.key("/")
        self.b.key(*text)
        self.b.key("Enter")


@contextlib.contextmanager
def session(answers):
    """A test: opens a browser, its live view and a server with these answers; prints the plan at the end."""
    b = Browser()
    server = Server(answers)
    try:
        yield b, Graph(b), server
    finally:
        server.close()
        b.close()
    done()


_folder = tempfile.TemporaryDirectory(prefix="jhot-made-")


def made(*arguments):
    """The path of the file that export_tool writes for these arguments (the last is a file name); deleted at the test's end."""
    path = os.path.join(_folder.name, arguments[-1])
    subprocess.run(["tests/export/export_tool", *arguments[:-1], path], check=True)
    return path
