"""The attributes of a FastHttpUser class: TLS, pools, proxies."""

import gevent
import pytest
from geventhttpclient.client import HTTPClientPool


def test_anybody_is_trusted_by_default(outcome, secure):
    seen = outcome(lambda client: client.get("/echo"), host=secure.url)
    assert seen.value["status"] == 200


def test_nobody_is_trusted_for_nothing_when_asked(outcome, secure):
    options = {"host": secure.url, "insecure": False}
    seen = outcome(lambda client: client.get("/echo"), in_words=False, **options)
    assert seen.value["status"] == 0
    assert seen.event["exception"]["class"] == "ssl.SSLCertVerificationError"


@pytest.mark.parametrize("site_of", ["secure", "foreign"])
def test_a_context_of_the_locustfile(outcome, authority, site_of, request):
    host = request.getfixturevalue(site_of).url

    def factory():
        return gevent.ssl.create_default_context(cafile=str(authority.certificate))

    seen = outcome(
        lambda client: client.get("/echo"),
        host=host,
        insecure=False,
        ssl_context_factory=staticmethod(factory),
    )
    assert seen.value["status"] == (200 if site_of == "secure" else 0)


def test_a_certificate_of_the_client(outcome, guarded, authority):
    def factory():
        context = gevent.ssl.create_default_context(cafile=str(authority.certificate))
        context.load_cert_chain(*(authority.folder / f"visitor.{end}" for end in ("pem", "key")))
        return context

    options = {"host": guarded.url, "ssl_context_factory": staticmethod(factory)}
    assert outcome(lambda client: client.get("/echo"), **options).value["status"] == 200


def test_secure_connections_are_used_again(outcome, secure):
    def scenario(client):
        before = secure.connections
        for _ in range(3):
            client.get("/echo")
        return secure.connections - before

    assert outcome(scenario, host=secure.url).value == 1


def test_secure_words_to_a_plain_server(play, site):
    host = site.url.replace("http", "https")
    seen = play(lambda client: client.get("/echo"), host=host)
    # Which of them it is depends on the OpenSSL that Python has.
    ended = {"ssl.SSLEOFError", "ssl.SSLZeroReturnError"}
    assert seen.value["status"] == 0
    assert seen.event["exception"]["class"] in ended


def test_plain_words_to_a_secure_server(outcome, secure):
    host = secure.url.replace("https", "http")
    seen = outcome(lambda client: client.get("/echo"), host=host)
    assert seen.value["status"] == 0


def test_a_pool_that_users_share(outcome):
    def scenario(client):
        visitor = type(client.user)
        visitor.client_pool = HTTPClientPool(concurrency=1)
        users = [visitor(client.user.environment) for _ in range(2)]
        group = [gevent.spawn(user.client.get, "/slow-head") for user in users]
        gevent.joinall(group, timeout=60)
        return [one.value.status_code for one in group]

    seen = outcome(scenario, in_order=False)
    assert seen.value == [200, 200]
    assert seen.wire[0]["connection"] == "of 1"


def test_a_proxy(outcome, site):
    seen = outcome(
        lambda client: client.get("/echo"),
        host="http://example.invalid",
        proxy_host="127.0.0.1",
        proxy_port=site.port,
    )
    assert seen.request["line"] == "GET http://example.invalid:80/echo"


def test_a_proxy_where_nobody_listens(outcome, closed_port):
    seen = outcome(
        lambda client: client.get("/echo"), proxy_host="127.0.0.1", proxy_port=closed_port
    )
    assert seen.event["exception"]["class"] == "builtins.ConnectionRefusedError"


def test_a_user_without_a_host(play):
    with pytest.raises(Exception, match="You must specify the base host"):
        play(lambda client: client.get("/echo"), host=None)
