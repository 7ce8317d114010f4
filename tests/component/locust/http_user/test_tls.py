"""HTTPS: trusted certificates, and errors of others, whose texts differ between TLS layers."""

import pytest

SSL = "requests.exceptions.SSLError"


def test_a_server_is_not_trusted_for_nothing(outcome, secure):
    seen = outcome(lambda client: client.get("/echo"), host=secure.url, in_words=False)
    assert seen.value["error"]["class"] == SSL
    assert seen.event["exception"]["class"] == "urllib3.exceptions.SSLError"


def test_a_server_whose_authority_is_given(outcome, secure, authority):
    seen = outcome(
        lambda client: client.get("/echo", verify=str(authority.certificate)), host=secure.url
    )
    assert seen.value["status"] == 200
    assert seen.value["url"] == f"{secure.url}/echo"


def test_the_authority_of_the_session(outcome, secure, authority):
    def scenario(client):
        client.verify = str(authority.certificate)
        before = secure.connections
        statuses = [client.get("/echo").status_code for _ in range(3)]
        return statuses, secure.connections - before

    assert outcome(scenario, host=secure.url).value == [[200, 200, 200], 1]


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_a_server_that_nobody_looks_at(outcome, secure):
    seen = outcome(lambda client: client.get("/echo", verify=False), host=secure.url)
    assert seen.value["status"] == 200


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_nobody_looks_for_a_whole_session(outcome, secure):
    def scenario(client):
        client.verify = False
        return [client.get("/echo").status_code for _ in range(2)]

    assert outcome(scenario, host=secure.url).value == [200, 200]


def test_an_authority_that_is_no_file(outcome, secure):
    seen = outcome(lambda client: client.get("/echo", verify="/no/such/file"), host=secure.url)
    assert seen.raised["class"] == "builtins.OSError"


def test_a_certificate_that_is_no_file(outcome, secure, authority):
    def scenario(client):
        client.get("/echo", verify=str(authority.certificate), cert="/no/such/file")

    assert outcome(scenario, host=secure.url).raised["class"] == "builtins.OSError"


def test_a_name_that_the_server_does_not_have(outcome, foreign, authority):
    seen = outcome(
        lambda client: client.get("/echo", verify=str(authority.certificate)),
        host=foreign.url,
        in_words=False,
    )
    assert seen.value["error"]["class"] == SSL


def test_a_certificate_of_the_client(outcome, guarded, authority):
    pair = tuple(str(authority.folder / f"visitor.{end}") for end in ("pem", "key"))

    def scenario(client):
        client.verify = str(authority.certificate)
        return client.get("/echo", cert=pair).status_code

    assert outcome(scenario, host=guarded.url).value == 200


def test_without_a_certificate_where_one_is_asked_for(outcome, guarded, authority):
    def scenario(client):
        return client.get("/echo", verify=str(authority.certificate)).status_code

    assert outcome(scenario, host=guarded.url, in_words=False).value == 0


def test_plain_words_to_a_secure_server(outcome, secure):
    host = secure.url.replace("https", "http")
    seen = outcome(lambda client: client.get("/echo"), host=host)
    assert seen.value["status"] == 0


def test_secure_words_to_a_plain_server(outcome, site):
    host = site.url.replace("http", "https")
    seen = outcome(lambda client: client.get("/echo"), host=host, in_words=False)
    assert seen.value["error"]["class"] == SSL


def test_a_redirect_to_a_secure_server(outcome, secure, authority):
    def scenario(client):
        client.verify = str(authority.certificate)
        return client.get(f"/to/302?where={secure.url}/echo")

    assert outcome(scenario).value["url"] == f"{secure.url}/echo"


def test_a_secure_cookie_comes_back_over_tls(outcome, secure, authority):
    def scenario(client):
        client.verify = str(authority.certificate)
        client.get("/cookies/set?a=1;Secure;Path=/")
        return client.get("/echo").json()["headers"].get("Cookie")

    assert outcome(scenario, host=secure.url).value == "a=1"


def test_a_stream_over_tls(outcome, secure, authority):
    def scenario(client):
        answer = client.get("/events", stream=True, verify=str(authority.certificate))
        return len([line for line in answer.iter_lines() if line])

    assert outcome(scenario, host=secure.url).value == 12
