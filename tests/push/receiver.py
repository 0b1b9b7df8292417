#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A receiver of profiles over HTTP that misbehaves on request: receiver.py FOLDER PORT [CERTIFICATE]
#
# PORT 0: any; the port is written to FOLDER/port. What it does with a request is in FOLDER/mode, read for each request, or in
# a path that begins with /mode/, percent-encoded:
#
#   200               accepts: NNN.json (path, headers) and NNN.body in FOLDER
#   NNN [TEXT]        answers with this status, and the text
#   retry NNN S       the same, with Retry-After: S
#   redirect URL      answers 307
#   partial N TEXT    accepts, but says in OTLP's way that N profiles were rejected
#   only WORD         accepts requests whose body, decompressed, contains WORD, and answers 422 to others
#   bytes             answers 200 with bytes that are no OTLP message
#   html              answers 200 with a web page
#   garbage           answers bytes that are not HTTP
#   endless           answers 200 with a body that does not end
#   close             closes the connection without an answer
#   hang              never answers
#
# FOLDER/log has a line per request: seconds, mode, path. Requests are served in parallel.

import gzip
import http.server
import json
import os
import socket
import ssl
import sys
import threading
import time
import urllib.parse

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
LOCK = threading.Lock()


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="text/plain", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data):
        self.wfile.write(data)
        self.wfile.flush()
        self.close_connection = True

    def accept(self, body, reply=b""):
        with LOCK:
            number = sum(name.endswith(".json") for name in os.listdir(FOLDER))
            base = os.path.join(FOLDER, "%03d" % number)
            open(base + ".body", "wb").write(body)
            with open(base + ".part", "w") as out:
                json.dump(dict(path=self.path, headers=dict(self.headers.items())), out)
            os.rename(base + ".part", base + ".json")
        json_kind = self.headers["Content-Type"] == "application/json"
        self.answer(200, b"{}" if json_kind else reply, "application/json" if json_kind else "application/x-protobuf")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/mode/"):
            what = urllib.parse.unquote(self.path.split("/")[2])
        else:
            what = open(os.path.join(FOLDER, "mode")).read()
        mode, _, rest = what.strip().partition(" ")
        with LOCK, open(os.path.join(FOLDER, "log"), "a") as log:
            log.write("%.3f %s %s\n" % (time.time(), mode, self.path))
        if mode == "200":
            self.accept(body)
        elif mode.isdigit():
            self.answer(int(mode), rest.encode())
        elif mode == "retry":
            status, seconds = rest.split()
            self.answer(int(status), b"slow down", Retry_After=seconds)
        elif mode == "redirect":
            self.answer(307, Location=rest)
        elif mode == "partial":
            count, _, why = rest.partition(" ")
            inner = b"\x08" + varint(int(count)) + b"\x12" + varint(len(why)) + why.encode()
            self.accept(body, b"\x0a" + varint(len(inner)) + inner)
        elif mode == "only":
            data = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
            if rest.encode() in data:
                self.accept(body)
            else:
                self.answer(422, b"not this type")
        elif mode == "bytes":
            self.answer(200, b"\xff\xfe\x07 not a message", "application/x-protobuf")
        elif mode == "html":
            self.answer(200, b"<html>Please log in</html>", "text/html")
        elif mode == "garbage":
            self.raw(bytes(range(256)) * 8 + b"\r\n\r\n")
        elif mode == "endless":
            self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\n\r\n")
            try:
                while True:
                    self.raw(b"x" * 65536)
            except OSError:
                pass
        elif mode == "close":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            time.sleep(1000)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that go away are a part of the test


server = Server(("127.0.0.1", PORT), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(FOLDER, "port.part"), "w") as f:
    f.write("%d\n" % server.server_address[1])
os.rename(os.path.join(FOLDER, "port.part"), os.path.join(FOLDER, "port"))
server.serve_forever()
