"""Answers that break HTTP or the connection, each under the path /broken/NAME."""

from __future__ import annotations

from server import Break, chunk, head

CHUNKED = head("Transfer-Encoding: chunked")
OF_100 = head("Content-Length: 100")

BROKEN = {
    "closed": [Break.CLOSE],
    "reset": [Break.RESET],
    "silent": [Break.HANG],
    "garbage": [b"this is no HTTP\r\n\r\n", Break.CLOSE],
    "words-for-status": [b"HTTP/1.1 fine OK\r\n\r\n", Break.CLOSE],
    "half-head": [b"HTTP/1.1 200 OK\r\nContent-Le", Break.CLOSE],
    "reset-head": [b"HTTP/1.1 200 OK\r\nContent-Le", 0.01, Break.RESET],
    "silent-head": [b"HTTP/1.1 200 OK\r\nContent-Le", Break.HANG],
    "long-head": [head(f"X-Long: {'x' * 100_000}", "Content-Length: 0"), Break.CLOSE],
    "many-headers": [head(*[f"X-{n}: {n}" for n in range(200)], "Content-Length: 0")],
    "no-colon": [b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nhi", Break.CLOSE],
    "words-for-length": [b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nhi", Break.CLOSE],
    "less-than-none": [b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhi", Break.CLOSE],
    "two-lengths": [head("Content-Length: 2", "Content-Length: 3"), b"hi!", Break.CLOSE],
    "cut-body": [OF_100, b"half", Break.CLOSE],
    "no-body": [OF_100, Break.CLOSE],
    "reset-body": [OF_100, b"half", 0.01, Break.RESET],
    "silent-body": [OF_100, b"half", Break.HANG],
    "cut-between-chunks": [CHUNKED, chunk(b"half"), Break.CLOSE],
    "cut-chunk": [CHUNKED, b"64\r\nhalf", Break.CLOSE],
    "cut-chunk-size": [CHUNKED, chunk(b"half"), b"6", Break.CLOSE],
    "words-for-chunk-size": [CHUNKED, 0.005, b"half\r\nhalf\r\n", Break.CLOSE],
    "silent-chunk": [CHUNKED, chunk(b"half"), Break.HANG],
    "reset-chunk": [CHUNKED, chunk(b"half"), 0.01, Break.RESET],
    "not-gzip": [head("Content-Encoding: gzip", "Content-Length: 8"), b"not gzip"],
    "cut-gzip": [
        head("Content-Encoding: gzip", "Content-Length: 12"),
        b"\x1f\x8b\x08\0\0\0\0\0\0\3KL",
    ],
}


def broken(request, _site):
    return BROKEN[request.path.rpartition("/")[2]]
