"""A matrix of servers that start quickly, and the source of a server that can fail."""

from __future__ import annotations

from installed import TORR

QUICK = """\
baseline = "one"
rounds = 1
duration = "200ms"
warmup = "0s"
connections = 2
url = "http://127.0.0.1:{port}/"
"""
GOOD = f'["{TORR}", "target", "hello", "--port", "{{port}}", "--for", "60s"]'
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
