"""A matrix of servers that start quickly, and the source of a server that can fail."""

from __future__ import annotations

import sys
from pathlib import Path

from installed import TORR

# A number of requests, since on a busy machine none may end in a short time.
_LOAD = "requests = 30"
QUICK = f"""\
baseline = "one"
rounds = 1
{_LOAD}
warmup = "0s"
connections = 2
url = "http://127.0.0.1:{{port}}/"
"""
GOOD = f'["{sys.executable}", "{Path(__file__).with_name("hello_server.py")}", "{{port}}"]'


def torr_target(behaviour):
    """Return the command of a `torr target`; its arguments are in quotes, as in TOML."""
    return f'["{TORR}", "target", {behaviour}, "--port", "{{port}}", "--for", "60s"]'


def lasting(duration, top=QUICK):
    """Return the top of a file whose trials have a duration instead of a number of requests."""
    return top.replace(_LOAD, f'duration = "{duration}"')


SERVER = """
import http.server, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0
    def do_GET(self):
        Answer.count += 1
        if Answer.count > LIMIT: os._exit(3)
        self.send_response(200)
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)
    def log_message(self, *given): pass
print("up", flush=True)
SETUP
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
