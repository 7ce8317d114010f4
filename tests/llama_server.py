"""llama.cpp's own HTTP server with a model of random weights, as a process, and what it counts."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection

from documents import ROOT
from installed import free_port

PYTHON = ROOT / "build/llama-cpp/bin/python"
SERVER = ROOT / "tests/full/llama_cpp/servers/server.py"

COUNTERS = {
    "computed": "prompt_tokens_total",
    "cached": "prompt_tokens_cached_total",
    "generated": "tokens_predicted_total",
}


@dataclass(frozen=True)
class Counts:
    """Tokens since the server started: of prompts, computed or cached, and of outputs."""

    computed: int
    cached: int
    generated: int

    def __sub__(self, earlier):
        names = vars(self)
        return Counts(**{name: getattr(self, name) - getattr(earlier, name) for name in names})


@dataclass(frozen=True)
class LlamaServer:
    """A running server."""

    url: str

    def counts(self):
        page = self._answer("/metrics").decode()
        values = {name: _value(page, metric) for name, metric in COUNTERS.items()}
        return Counts(**values)

    def busy_slots(self):
        return sum(slot["is_processing"] for slot in json.loads(self._answer("/slots")))

    def prompt_tokens(self, text):
        """Return how many tokens of a prompt the server counts when it answers it."""
        body = json.dumps({"prompt": text, "max_tokens": 1}).encode()
        return json.loads(self._answer("/v1/completions", body))["usage"]["prompt_tokens"]

    def _answer(self, path, body=None):
        connection = HTTPConnection(self.url.removeprefix("http://"), timeout=60)
        with closing(connection):
            connection.request("GET" if body is None else "POST", path, body)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            return answer.read()


def _value(page, metric):
    return int(float(re.search(rf"^llamacpp:{metric} (\S+)$", page, re.MULTILINE)[1]))


@contextmanager
def llama_server(folder, *words):
    """Run a server until the block ends, with options of servers/server.py."""
    command = list(map(str, [PYTHON, SERVER, free_port(), folder, *words]))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            # It writes its URL as soon as the model is loaded.
            yield LlamaServer(process.stdout.readline().strip())
        finally:
            process.terminate()
