"""The installed `torr init`: `torr run` sends the requests of its plan file."""

from __future__ import annotations

import http.server
import json
import threading


def test_its_plan_runs_against_a_target(torr, target, tmp_path):
    hello = target("hello")
    document = {
        "openapi": "3.0.3",
        "servers": [{"url": hello.url}],
        "paths": {"/a": {"get": {}}, "/b/{n}": {"get": {"parameters": [
            {"name": "n", "in": "path", "required": True, "schema": {"type": "integer"}}]}}},
    }  # fmt: skip
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    assert torr("init", "openapi.json").code == 0
    ended = torr("run", "plan.toml", "-c", "2", "-z", "300ms", "--warmup", "0s", "-d", "out")
    assert ended.code == 0, ended.err
    assert hello.stop()["requests"] > 0


def test_a_document_is_fetched_from_its_url(torr, tmp_path):
    document = json.dumps({"openapi": "3.0.3", "paths": {"/a": {"get": {}}}}).encode()

    class Documents(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            is_there = self.path == "/api/openapi.json"
            self.send_response(200 if is_there else 404)
            self.send_header("content-length", str(len(document)))
            self.end_headers()
            self.wfile.write(document)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Documents) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        missing = torr("init", f"{base}/openapi.json")
        fetched = torr("init", f"{base}/api/openapi.json")
        server.shutdown()
    assert (missing.code, "answers with status 404" in missing.err) == (2, True)
    assert fetched.code == 0, fetched.err
    assert f'url = "{base}"' in (tmp_path / "plan.toml").read_text()
