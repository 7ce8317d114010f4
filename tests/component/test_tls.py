"""https, against nginx with certificates of an authority that the tests made."""

from __future__ import annotations

import re
import socket

import pytest

from authority import Authority, Nginx

QUICK = ("--requests", "120", "--warmup", "100ms", "-c", "4", "--timeout", "30s")
LARGE = 3_000_000
OWN = ("own", "own_elsewhere", "own_expired")


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("good")
    made.sign("elsewhere", places="DNS:elsewhere.test")
    made.sign("expired", begin="20200101000000Z", end="20200201000000Z")
    made.sign("future", begin="20900101000000Z", end="20910101000000Z")
    made.sign("strict")
    made.sign("old")
    made.sign("user", places="DNS:user")
    made.self_sign("own")
    made.self_sign("own_elsewhere", places="DNS:elsewhere.test")
    made.self_sign("own_expired", begin="20200101000000Z", end="20200201000000Z")
    return made


@pytest.fixture(scope="module")
def nginx(authority, tmp_path_factory):
    stranger = Authority(tmp_path_factory.mktemp("stranger"))
    stranger.sign("unknown")
    (authority.folder / "large").write_bytes(bytes(range(250)) * (LARGE // 250))
    authority.folder.parent.chmod(0o755)
    authority.folder.chmod(0o755)
    served = Nginx(authority.folder)
    for name in ("good", "elsewhere", "expired", "future", *OWN):
        served.serve(name)
    asks = f"ssl_client_certificate {authority.certificate}; ssl_verify_client on;"
    served.serve("strict", more=asks)
    served.serve("old", more="ssl_protocols TLSv1.2;")
    served.serve("unknown", folder=stranger.folder)
    process = served.start()
    yield served
    process.terminate()
    process.wait(60)


@pytest.fixture
def secure(torr, authority):
    """Run a command that trusts the tests' authority."""
    return lambda *words, **more: torr(*words, "--cacert", authority.certificate, **more)


def handshakes(level):
    """How many there were in warm-up and window together, where a busy machine may do the last."""
    parts = (part["latency"].get("tls_ms") for part in (level["warmup"], level))
    return sum(part["n"] for part in parts if part)


def test_a_run_over_tls_counts_as_the_server_does(secure, nginx):
    nginx.log.write_text("")
    ended = secure("run", *QUICK, nginx.url("good"))
    assert ended.code == 0, ended.err
    level = ended.level
    attempts = level["counts"]["attempted"] + level["warmup"]["counts"]["attempted"]
    seen = nginx.requests()
    assert len(seen) == attempts >= 120
    assert len({connection for *_, connection in seen}) == 4
    assert {(status, version) for status, _, version, _ in seen} == {("200", "TLSv1.3")}
    assert handshakes(level) == 4


def test_several_processes_count_as_the_server_does(secure, nginx):
    nginx.log.write_text("")
    ended = secure("run", *QUICK, "--processes", 3, nginx.url("good"))
    assert ended.code == 0, ended.err
    level = ended.level
    attempts = level["counts"]["attempted"] + level["warmup"]["counts"]["attempted"]
    assert len(nginx.requests()) == attempts >= 120
    assert level["generator"]["processes"] == 3
    assert handshakes(level) == 4


def test_tls_1_2_is_spoken_too(secure, nginx):
    nginx.log.write_text("")
    ended = secure("run", *QUICK, nginx.url("old"))
    assert ended.code == 0, ended.err
    assert {version for _, _, version, _ in nginx.requests()} == {"TLSv1.2"}


def test_large_bodies_arrive_whole(secure, nginx):
    ended = secure(
        "run", "--requests", 20, "--warmup", "0s", "-c", 3, nginx.url("good", path="/large")
    )
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == 20
    assert ended.level["bytes_in"] > 20 * LARGE


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("elsewhere", "tls.wrong_host"),
        pytest.param("expired", "tls.expired", marks=pytest.mark.full),
        pytest.param("future", "tls.not_yet_valid", marks=pytest.mark.full),
        ("unknown", "tls.unknown_issuer"),
    ],
)
def test_an_untrusted_certificate_ends_in_its_reason(secure, torr, nginx, server, reason):
    ended = secure("run", *QUICK, nginx.url(server))
    assert ended.code == 3
    assert reason in ended.err
    level = ended.level
    assert set(level["counts"]["errors"]) == {"tls"}
    assert set(level["reasons"]) == {reason}
    assert torr("run", "--once", "--insecure", nginx.url(server)).code == 0


def test_a_self_signed_certificate_is_accepted_where_it_is_the_one_that_was_named(
    torr, nginx, authority
):
    named = ("--cacert", authority.folder / "own.pem")
    ended = torr("run", *QUICK, *named, nginx.url("own"))
    assert ended.code == 0, ended.err
    assert torr("run", "--once", *named, nginx.url("own")).code == 0


@pytest.mark.parametrize(
    "case",
    [
        ("own", "ca", "tls.authority_as_server"),
        ("own_elsewhere", "own_elsewhere", "tls.wrong_host"),
        ("own_expired", "own_expired", "tls.expired"),
    ],
)
def test_another_name_date_or_certificate_than_the_named_one_is_refused(
    torr, nginx, authority, case
):
    server, named, reason = case
    ended = torr("run", "--once", "--cacert", authority.folder / f"{named}.pem", nginx.url(server))
    assert ended.code == 3
    assert reason in ended.out + ended.err


def test_a_port_without_tls_is_said_to_be_that(torr, steady):
    ended = torr("run", *QUICK, "-k", steady.url.replace("http:", "https:"))
    assert ended.code == 3
    assert "tls.not_tls" in ended.err


def test_a_client_shows_its_certificate(secure, nginx, authority):
    without = secure("run", *QUICK, nginx.url("strict"))
    assert set(without.level["statuses"]) == {"400"}
    pair = ("--cert", authority.folder / "user.pem", "--key", authority.folder / "user.key")
    ended = secure("run", *QUICK, *pair, nginx.url("strict"))
    assert ended.code == 0, ended.err
    assert set(ended.level["statuses"]) == {"200"}
    both = authority.folder / "both.pem"
    both.write_bytes(b"".join(path.read_bytes() for path in pair[1::2]))
    assert secure("run", *QUICK, "--cert", both, nginx.url("strict")).code == 0


@pytest.mark.parametrize(("words", "reused"), [((), {".", "r"}), (("--no-tls-resumption",), {"."})])
def test_sessions_are_taken_up_again_unless_they_shall_not(secure, nginx, words, reused):
    nginx.log.write_text("")
    few = ("--requests", 8, "--warmup", "0s", "-c", 1, "--no-keepalive")
    ended = secure("run", *few, *words, nginx.url("good"))
    assert ended.code == 0, ended.err
    assert {mark for _, mark, _, _ in nginx.requests()} == reused
    assert ended.level["latency"]["tls_ms"]["n"] == 8


def test_one_request_shows_how_long_its_handshake_took(secure, nginx):
    ended = secure("run", "--once", nginx.url("good", host="127.0.0.1"))
    assert ended.code == 0, ended.err
    assert re.search(r"TLS \d", ended.out)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--cacert", "missing.pem"), "--cacert: missing.pem: No such file"),
        (("--cacert", "/dev/null"), "/dev/null: no certificate in it"),
        (("--key", "/dev/null"), "--key needs --cert"),
        (("--insecure", "--cacert", "/dev/null"), "--insecure accepts any certificate"),
    ],
)
def test_bad_files_and_flags_are_named(torr, words, says):
    ended = torr("run", *QUICK, *words, "https://localhost:1/")
    assert ended.code == 2
    assert says in ended.err
    assert not list(ended.folder.rglob("result.json"))


def test_a_handshake_that_nobody_answers_is_a_timeout_of_its_own(torr):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        ended = torr("run", *QUICK, "--timeout", "300ms", "-k", url)
    assert ended.code == 3
    assert set(ended.level["reasons"]) == {"timeout.tls"}
