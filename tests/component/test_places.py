"""Where requests go: Unix sockets and proxies, plain and secure."""

from __future__ import annotations

import base64
import ssl

import pytest

from authority import Authority
from recorder import proxying, recording, recording_socket
from written import files_with

ONCE = ("--warmup", "0s", "--drain", "30s", "--timeout", "30s")
COUNT = ("--requests", 40, "-c", 4, *ONCE)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("good")
    return made


def test_a_unix_socket_is_a_target_as_any_other(torr, tmp_path):
    with recording_socket(tmp_path / "app.sock") as server:
        ended = torr("run", *COUNT, f"unix:{tmp_path}/app.sock:/x?y=1")
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == 40
    assert {(seen.target, seen.headers["host"]) for seen in server.seen} == {
        ("/x?y=1", "localhost")
    }
    assert len(server.seen) == 40
    assert server.connections == 4


def test_a_socket_where_nobody_listens_ends_with_3(torr, tmp_path):
    ended = torr("run", *COUNT, f"unix:{tmp_path}/none.sock")
    assert ended.code == 3
    assert "connect." in ended.err


def test_a_proxy_is_asked_for_whole_urls(torr):
    with recording() as server, proxying(server.url) as proxy:
        address = proxy.url.replace("//", "//ann:p%40ss@")
        ended = torr("run", *COUNT, "--proxy", address, server.url + "/x?y=1")
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == 40
    assert len(proxy.heads) == 4
    assert {seen.target for seen in server.seen} == {f"{server.url}/x?y=1"}
    shown = base64.b64encode(b"ann:p@ss").decode()
    for head in proxy.heads:
        assert head.startswith(f"GET {server.url}/x?y=1 HTTP/1.1\r\n")
        assert f"proxy-authorization: basic {shown}".lower() in head.lower()
        assert f"host: {server.place}" in head.lower()
    assert files_with(ended.folder, shown) == []


def test_https_goes_through_a_tunnel(torr, authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.folder / "good.pem", authority.folder / "good.key")
    with recording(context=context) as server, proxying(server.url) as proxy:
        flags = ("--proxy", proxy.url, "--cacert", authority.certificate)
        ended = torr("run", *COUNT, *flags, server.url + "/x")
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == 40
    assert {seen.target for seen in server.seen} == {"/x"}
    assert len(proxy.heads) == 4
    for head in proxy.heads:
        assert head.startswith(f"CONNECT {server.place} HTTP/1.1\r\n")
