"""Servers count tokens: each answers as one of the known kinds."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from torr.errors import UsageError
from torr.model.url import Url
from torr.planning.prompt_text import server_tokenizer
from torr.planning.prompt_text.server_tokenizer import ServerTokenizer
from torr.planning.prompt_text.words import USUAL_WORDS, calibrated


def tokens_of(text):
    """A token for each word and each line feed: the same number for the same text."""
    return [sum(word.encode()) for word in text.replace("\n", " \n ").split(" ") if word]


def vllm(request):
    if "prompt" not in request:
        return 400, {"error": "prompt"}
    tokens = tokens_of(request["prompt"])
    return 200, {"count": len(tokens), "max_model_len": 4096, "tokens": tokens}


def llama_cpp(request):
    return 200, {"tokens": tokens_of(request.get("content", ""))}


def joining(request):
    """A line feed is one token with the word before it."""
    tokens = [sum(word.encode()) for word in request["prompt"].split(" ") if word]
    return 200, {"count": len(tokens), "tokens": tokens}


@pytest.fixture
def server():
    """Start a server that answers as a function does; return its URL and the requests."""
    running = []

    def start(answer):
        requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                requests.append((self.path, dict(self.headers), json.loads(body)))
                status, value = answer(requests[-1][2])
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        running.append((http, thread))
        return Url("127.0.0.1", http.server_port, "/v1/chat/completions"), requests

    yield start
    for http, thread in running:
        http.shutdown()
        thread.join()
        http.server_close()


TEXTS = ["ba be", "bi", "bo bu da", "de"]


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        (vllm, {"prompt": "bi", "add_special_tokens": False, "model": "m"}),
        (llama_cpp, {"content": "bi", "add_special": False}),
    ],
)
def test_every_kind_of_server_counts(server, answer, sent):
    url, requests = server(answer)
    tokenizer = ServerTokenizer(url, "m", [("authorization", "Bearer x")])
    assert len(tokenizer.ids("bi")) == 1
    assert tokenizer.count(TEXTS) == [2, 1, 3, 1]
    assert tokenizer.count(["bi"]) == [1]
    path, headers, body = requests[-1]
    assert (path, headers["authorization"], body) == ("/tokenize", "Bearer x", sent)


def test_many_texts_are_counted_in_few_requests(server):
    url, requests = server(vllm)
    texts = [f"{word} {word}" for word in USUAL_WORDS]
    assert set(ServerTokenizer(url).count(texts)) == {2}
    assert len(requests) == 3


def test_texts_that_cannot_be_told_apart_are_counted_one_by_one(server):
    url, requests = server(joining)
    assert ServerTokenizer(url).count(TEXTS) == [2, 1, 3, 1]
    assert len(requests) == 2 + len(TEXTS)
    assert ServerTokenizer(server(vllm)[0]).count(["a\nb", "c", "d"]) == [3, 1, 1]


def test_a_batch_has_a_bounded_number_of_texts(server, monkeypatch):
    monkeypatch.setattr(server_tokenizer, "_TEXTS_PER_REQUEST", 4)
    url, requests = server(vllm)
    assert ServerTokenizer(url).count(["ba"] * 10) == [1] * 10
    assert max(body["prompt"].count("\n") for _, _, body in requests) == 3


def test_words_are_calibrated_by_a_server(server):
    url, requests = server(llama_cpp)
    assert calibrated(ServerTokenizer(url)).is_exact
    assert len(requests) <= 8


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda _: (404, b"no"), "it answers 404"),
        (lambda _: (200, b"no"), "not JSON"),
        (lambda _: (200, []), "no tokens"),
        (lambda _: (200, {"count": 3}), "no tokens"),
    ],
)
def test_a_server_that_counts_no_tokens_is_named(server, answer, why):
    url, _ = server(answer)
    with pytest.raises(UsageError, match=f"/tokenize counts no tokens: .*{why}") as caught:
        ServerTokenizer(url).count(["a"])
    assert "--tokenizer" in caught.value.hint


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="counts no tokens"):
        ServerTokenizer(Url("127.0.0.1", 1, "/")).ids("a")


def with_messages(per_message):
    """Return a server like vLLM; `per_message` gives the tokens that its template adds."""

    def answer(request):
        if "messages" not in request:
            return vllm(request)
        (message,) = request["messages"]
        tokens = tokens_of(message["content"])
        tokens += [1] * per_message(tokens)
        return 200, {"count": len(tokens), "tokens": tokens}

    return answer


def test_the_tokens_of_a_chat_template_are_the_difference(server):
    url, requests = server(with_messages(lambda _tokens: 6))
    assert ServerTokenizer(url, "m").template_tokens(TEXTS) == 6
    asked = [request for _, _, request in requests if "messages" in request]
    assert asked[0] == {
        "messages": [{"role": "user", "content": TEXTS[0]}],
        "add_generation_prompt": True,
        "model": "m",
    }


def test_llama_cpp_counts_the_text_that_its_template_makes(server):
    def answer(request):
        if "messages" in request:
            (message,) = request["messages"]
            return 200, {"prompt": f"<user> {message['content']} <end>"}
        tokens = tokens_of(request.get("content", ""))
        return 200, {"tokens": [1, *tokens] if request.get("add_special") else tokens}

    url, requests = server(answer)
    assert ServerTokenizer(url).template_tokens(TEXTS) == 3
    path, _, asked = next(each for each in requests if "messages" in each[2])
    assert (path, asked) == (
        "/apply-template",
        {"messages": [{"role": "user", "content": TEXTS[0]}]},
    )
    assert requests[-1][2]["parse_special"] is True


@pytest.mark.parametrize("answer", [llama_cpp, with_messages(len)])
def test_a_template_whose_tokens_are_not_counted_or_not_constant_is_not_known(server, answer):
    assert ServerTokenizer(server(answer)[0]).template_tokens(TEXTS) is None


def test_a_server_that_refuses_messages_is_an_error(server):
    with pytest.raises(UsageError, match="it answers 400"):
        ServerTokenizer(server(vllm)[0]).template_tokens(TEXTS)
