"""Valid answers of the site, in every form that a client must understand."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from http import HTTPStatus

import brotli

from broken import broken
from server import Break, answer, chunk, head

JSON = "Content-Type: application/json"
LINES = "one\ntwo\r\nthree ü\n\nfive"
WORDS = b"words that a body may hold, " * 40
BIG = bytes(range(256)) * 20_480  # 5 MiB


def echo(request, _site):
    """Return the received request as JSON."""
    return answer(
        200,
        {
            "method": request.method,
            "target": request.target,
            "headers": dict(request.headers),
            "body": request.body.decode("latin-1"),
            "chunked": request.chunks is not None,
        },
        JSON,
    )


def status(request, _site):
    code = int(request.path.rpartition("/")[2])
    reason = HTTPStatus(code).phrase
    if code in (204, 304):
        return head("X-Bare: yes", status=code, reason=reason)
    return answer(code, f"the body of {code}".encode(), "Content-Type: text/plain", reason=reason)


def redirect(request, _site):
    """/to/STATUS?where=… with the query's text as it stands."""
    code = int(request.path.rpartition("/")[2])
    where = request.target.partition("?where=")[2]
    return answer(code, b"over there", f"Location: {where}", reason=HTTPStatus(code).phrase)


def countdown(request, _site):
    """/left/N redirects N times."""
    left = int(request.path.rpartition("/")[2])
    if left == 0:
        return answer(200, b"arrived")
    return answer(302, b"", f"Location: /left/{left - 1}", reason="Found")


def elsewhere(request, site):
    """/elsewhere/STATUS redirects to /echo of the other site."""
    code = int(request.path.rpartition("/")[2])
    return answer(code, b"", f"Location: {site.other.url}/echo", reason=HTTPStatus(code).phrase)


def named(where):
    """A redirect whose place is not plain ASCII, or is written oddly."""
    return lambda _request, _site: head("Content-Length: 0", f"Location: {where}", status=302)


def cookies(request, _site):
    """/cookies/…?a=1&b=2;Path=/x sets the lines between the ampersands."""
    lines = [f"Set-Cookie: {line}" for line in request.target.partition("?")[2].split("&")]
    return answer(200, b"set", *[line.replace("+", " ") for line in lines])


def cookies_on_the_way(_request, _site):
    return answer(302, b"", "Location: /echo", "Set-Cookie: found=onthe; Path=/", reason="Found")


def compressed(encoding, pack):
    return lambda _request, _site: answer(200, pack(WORDS), f"Content-Encoding: {encoding}")


def raw_deflate(body):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def compressed_in_chunks(_request, _site):
    packed = gzip.compress(WORDS, mtime=0)
    yield head("Content-Encoding: gzip", "Transfer-Encoding: chunked")
    yield chunk(packed[:10])
    yield 0.005
    yield chunk(packed[10:]) + chunk(b"")


def basic(request, _site):
    if request.header("authorization") is None:
        return answer(401, b"who?", 'WWW-Authenticate: Basic realm="r"', reason="Unauthorized")
    return echo(request, _site)


def digest(request, _site):
    """RFC 2617 with qop=auth, for guest and secret."""
    given = request.header("authorization") or ""
    fields = dict(part.strip().split("=", 1) for part in given[7:].split(",") if "=" in part)
    fields = {name: value.strip('"') for name, value in fields.items()}
    if fields.get("response") != _digest_of(request, fields):
        challenge = 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", opaque="o"'
        return answer(401, b"who?", challenge, reason="Unauthorized")
    return answer(200, b"welcome")


def _digest_of(request, fields):
    who = _md5("guest:r:secret")
    what = _md5(f"{request.method}:{request.target}")
    middle = ":".join(fields.get(name, "") for name in ("nc", "cnonce", "qop"))
    return _md5(f"{who}:n:{middle}:{what}")


def _md5(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def chunked(_request, _site):
    yield head("Transfer-Encoding: chunked", "Content-Type: text/plain; charset=utf-8")
    for piece in (b"one ", "zwö".encode(), b" three"):
        yield chunk(piece)
        yield 0.002
    yield chunk(b"")


def chunked_with_trailers(_request, _site):
    yield head("Transfer-Encoding: chunked", "Trailer: X-After")
    yield b"4;name=value\r\nbody\r\n0\r\nX-After: all\r\n\r\n"


def until_close(_request, _site):
    yield head("Content-Type: text/plain")
    yield b"ends with "
    yield 0.002
    yield b"the connection"
    yield Break.CLOSE


def old_version(_request, _site):
    yield b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"
    yield Break.CLOSE


def closing(_request, _site):
    yield answer(200, b"the last", "Connection: close")
    yield Break.CLOSE


def closing_unsaid(_request, _site):
    yield answer(200, b"the last, though nobody says so")
    yield Break.CLOSE


def slow_head(_request, _site):
    yield b"HTTP/1.1 200 OK\r\nContent-"
    yield 0.02
    yield b"Length: 2\r\n\r\nhi"


def together(request, site):
    """/together/N answers when N requests of the scenario have been read."""
    count = int(request.path.rpartition("/")[2])
    while len(site.seen) < count:
        yield 0.001
    yield answer(200, b"hi")


def slow_body(_request, _site):
    yield head("Content-Length: 6", "Content-Type: text/plain")
    for piece in (b"by", b"te", b"s!"):
        yield 0.01
        yield piece


def interim(_request, _site):
    yield b"HTTP/1.1 100 Continue\r\n\r\n"
    yield 0.002
    yield answer(200, b"in the end")


def early_hints(_request, _site):
    yield b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    yield 0.002
    yield answer(200, b"in the end")


def events(_request, _site):
    """Server-sent events, 10 ms apart."""
    yield head("Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked")
    for n in range(5):
        yield chunk(f'event: message\ndata: {{"n": {n}, "text": "wört"}}\n\n'.encode())
        yield 0.01
    yield chunk(b": over\n\ndata: [DONE]\n\n") + chunk(b"")


def text(body, kind=None):
    headers = [] if kind is None else [f"Content-Type: {kind}"]
    return lambda _request, _site: answer(200, body, *headers)


def links(_request, _site):
    return answer(200, b"", 'Link: </2>; rel="next", <http://x/9>; rel=last; title="The end"')


def twice(_request, _site):
    return answer(200, b"", "X-Many: one", "x-many: two", "X-Spaced:   about", "X-Empty:")


def odd_reason(_request, _site):
    return b"HTTP/1.1 200 Gr\xc3\xbcn und gut\r\nContent-Length: 0\r\n\r\n"


def no_reason(_request, _site):
    return b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"


ROUTES = {
    "/": echo,
    "/status/": status,
    "/to/": redirect,
    "/left/": countdown,
    "/elsewhere/": elsewhere,
    "/to-itself": lambda _request, _site: answer(302, b"", "Location: /to-itself", reason="Found"),
    "/to-umlaut": named("/echo/\xc3\xbc"),
    "/to-space": named("/echo/a b?c=d e"),
    "/to-fragment": named("/echo#there"),
    "/to-nowhere": lambda _request, _site: answer(302, b"no place", reason="Found"),
    "/cookies/": cookies,
    "/cookies-on-the-way": cookies_on_the_way,
    "/gzip": compressed("gzip", lambda body: gzip.compress(body, mtime=0)),
    "/deflate": compressed("deflate", zlib.compress),
    "/raw-deflate": compressed("deflate", raw_deflate),
    "/brotli": compressed("br", brotli.compress),
    "/unknown-encoding": compressed("rot13", bytes),
    "/gzip-in-chunks": compressed_in_chunks,
    "/basic": basic,
    "/digest": digest,
    "/chunked": chunked,
    "/trailers": chunked_with_trailers,
    "/until-close": until_close,
    "/old-version": old_version,
    "/closing": closing,
    "/closing-unsaid": closing_unsaid,
    "/slow-head": slow_head,
    "/slow-body": slow_body,
    "/together/": together,
    "/interim": interim,
    "/early-hints": early_hints,
    "/events": events,
    "/empty": text(b""),
    "/big": text(BIG, "application/octet-stream"),
    "/json": text(b'{"a": [1, "\xc3\xbc"]}', "application/json"),
    "/latin-1": text("grün".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
    "/utf-8": text("grün 緑".encode(), "text/plain; charset=utf-8"),
    "/no-charset": text("grün".encode("latin-1"), "text/html"),
    "/no-type": text("ein Wort über grüne Bäume und süße Äpfel".encode()),
    "/odd-charset": text(b"plain", "text/plain; charset=no-such-thing"),
    "/lines": text(LINES.encode(), "text/plain; charset=utf-8"),
    "/links": links,
    "/twice": twice,
    "/odd-reason": odd_reason,
    "/no-reason": no_reason,
    "/broken/": broken,
}
