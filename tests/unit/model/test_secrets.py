"""Secrets are found by the names that they stand under, wherever a command carries them."""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import messages
from documents import ROOT
from torr.messages.catalogue import languages
from torr.model.known_secrets import KnownSecrets
from torr.model.outside import Outside
from torr.model.secret_names import PARTS_OF_NAMES, WHOLE_NAMES, is_secret
from torr.model.secrets import (
    known_secrets,
    redacted_command,
    redacted_text,
    secrets_of_command,
)


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "apikey"),
        *("X-Auth-Token", "access_token", "client_secret", "password", "passwd", "api_key"),
        *("X-Auth", "X-Session", "X-CSRF", "X-Amz-Signature", "sig", "access_key", "pwd"),
        *("user[password]", "user%5Bpassword%5D", "p%61ssword", "jsessionid", "PHPSESSID"),
        *("key", "code", "jwt", "pass", "auth", "private_key", "privateKey", "Authentication"),
        *("Ocp-Apim-Subscription-Key", "ns.password", "clientSecret", "x-functions-key"),
    ],
)
def test_these_names_hold_secrets(name):
    assert is_secret(name)


def test_the_names_are_those_of_the_page():
    page = (ROOT / "docs/one-request.md").read_text()
    (listed,) = re.findall(r"^- it contains one of: (.*?); or$", page, re.DOTALL | re.MULTILINE)
    assert tuple(re.split(r",\s+", listed)) == PARTS_OF_NAMES
    assert all(is_secret(f"x{name}y") for name in PARTS_OF_NAMES)
    (listed,) = re.findall(r"^- it is one of: (.*?)\.$", page, re.DOTALL | re.MULTILINE)
    assert tuple(re.split(r",\s+", listed)) == WHOLE_NAMES
    assert all(is_secret(name) and not is_secret(f"b{name}y") for name in WHOLE_NAMES)


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        (
            r'{"body": "{\"password\": \"hush\", \"n\": 1}"}',
            r'{"body": "{\"password\": \"***\", \"n\": 1}"}',
        ),
        (r'"{\"token\":17}"', r'"{\"token\":\"***\"}"'),
        (r'"{\"token\":\"hu\\\"sh\",\"n\":1}"', r'"{\"token\":\"***\",\"n\":1}"'),
        (r'"\\\"apiKey\\\": \\\"hush\\\""', r'"\\\"apiKey\\\": \\\"***\\\""'),
        (r'"{\"token\": \"hu', r'"{\"token\": \"***\"'),
        (r'"{\"page\": \"7\"}"', r'"{\"page\": \"7\"}"'),
    ],
)
def test_members_of_json_within_json_are_found(text, saved):
    assert redacted_text(text) == saved


@pytest.mark.parametrize(
    "name",
    [
        *("accept", "content-type", "x-user", "host", "page", "author", "design", "keyboard"),
        *("primary_key", "status_code", "postcode", "passenger", "bypass", "compass", "oauth2"),
        *("tokenizer", "token_type", "TokenError", "InvalidSessionException"),
    ],
)
def test_these_names_do_not(name):
    assert not is_secret(name)


FORMS_OF_MESSAGES = (
    *("{}: text", "{}: 'text' is not a whole number", "{}: 5 is too large", "{}: 5 太大"),
    *("{}=text", "{}：'text' 不是整数", '"{}": "text"', "'{}': 'text'"),
)


@pytest.mark.parametrize("form", FORMS_OF_MESSAGES)
@pytest.mark.parametrize(
    "name",
    [
        *("--output-tokens", "--max-tokens", "--prompt-tokens", "--prefix-tokens", "--kv-tokens"),
        *("--block-tokens", "--message-tokens", "--synthetic-input-tokens-mean", "--token-ids"),
        *("--token-env", "total_tokens", "cache_creation_input_tokens"),
        *("maxTokens", "prompt_token_ids"),
    ],
)
def test_the_number_of_tokens_is_no_secret(form, name):
    text = form.format(name)
    assert redacted_text(text) == text


@pytest.mark.parametrize("form", ["{}: {}", "{}={}", '{{"{}": "{}"}}', "'{}': '{}'"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("token", "abc"), ("--token", "abc"), ("tokens", "abc"), ("access_tokens", "5-aB")),
        *(("max-token", "text"), ("output_token", "text"), ("api-token", "abc")),
        *(("account_password", "12345678"), ("discount_token", "12345678"), ("token_id", "a")),
        *(("Authorization", "abc"), ("id_tokens", "abc"), ("key_tokens", "a")),
    ],
)
def test_a_secret_with_a_name_like_that_is_covered(form, name, value):
    assert redacted_text(form.format(name, value)) == form.format(name, "***")


def test_a_number_of_bare_tokens_is_no_secret():
    for text in ("tokens: 5", "tokens: 5 is too large", "--tokens: 512 in all", "tokens=5"):
        assert redacted_text(text) == text


@pytest.mark.parametrize(
    ("arguments", "saved"),
    [
        (["--token", "abc"], ["--token", "***"]),
        (["--api-token=abc"], ["--api-token=***"]),
        (["--output-tokens", "text"], ["--output-tokens", "text"]),
        (["--output-tokens=text"], ["--output-tokens=text"]),
        (["-H", "Authorization: Bearer hush"], ["-H", "Authorization: ***"]),
        (["-HCookie: a=hush"], ["-HCookie: ***"]),
        (["--header=X-Api-Key: hush"], ["--header=X-Api-Key: ***"]),
        (["-H", "X-Token:hush\thush"], ["-H", "X-Token: ***"]),
        (["-H", "accept: */*"], ["-H", "accept: */*"]),
        (["http://ann:hush@host/?q=1"], ["http://***@host/?q=1"]),
        (["http://ann:hu@sh@host/"], ["http://***@host/"]),
        (["http://host/?token=hush&q=1"], ["http://host/?token=***&q=1"]),
        (["http://host/a@b"], ["http://host/a@b"]),
        (["-b", "user=ann&password=hush"], ["-b", "user=ann&password=***"]),
        (["-bpassword=hush"], ["-bpassword=***"]),
        (["--json-body", '{"api_key": "hu\\"sh"}'], ["--json-body", '{"api_key": "***"}']),
        (["--json-body", '{"token":17}'], ["--json-body", '{"token":"***"}']),
        (["--levels", "200,500"], ["--levels", "200,500"]),
        (["--expect-json", "$.token=hush"], ["--expect-json", "$.token=***"]),
        (["--capture", "token=json:$.token"], ["--capture", "token=json:$.token"]),
        (["--proxy", "http://ann:hush@h:1"], ["--proxy", "http://***@h:1"]),
        (["http://h/?token={{ row.t | url }}&n=1"], ["http://h/?token=***&n=1"]),
    ],
)
def test_a_command_is_saved_without_its_secrets(arguments, saved):
    assert redacted_command(arguments) == saved


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ('{"access_token":"hu', '{"access_token":"***"'),
        ('{"n": 1, "password": "hush\\', '{"n": 1, "password": "***"'),
        ('{"token": "a"}, {"n": "b', '{"token": "***"}, {"n": "b'),
    ],
)
def test_a_secret_whose_text_was_cut_is_covered_to_its_end(text, saved):
    assert redacted_text(text) == saved


def test_text_without_secrets_stays_as_it_is():
    text = '{"n": 1, "name": "tok"} a=b&c=d http://host/'
    assert redacted_text(text) == text


def test_a_user_of_the_command_line_keeps_no_password():
    command = ["run", "--basic-auth", "ann:pw", "--basic-auth=ann:pw", "http://h/"]
    assert redacted_command(command) == [
        *("run", "--basic-auth", "***", "--basic-auth=***", "http://h/"),
    ]


@pytest.mark.parametrize("flag", ["--api-key", "--token", "--db-password", "-token", "--APIKEY"])
def test_the_word_behind_a_secret_flag_is_covered(flag):
    assert redacted_command(["serve", flag, "hush", "--port", "80"]) == [
        *("serve", flag, "***", "--port", "80")
    ]


@pytest.mark.parametrize("flag", ["--tokens", "--tokenizer", "--cookies", "--session-cache", "key"])
def test_the_word_behind_another_flag_is_not(flag):
    assert redacted_command(["serve", flag, "17"]) == ["serve", flag, "17"]


def test_a_command_that_is_kept_can_be_written_whatever_its_bytes_are():
    words = redacted_command(["-d", os.fsdecode(b"o\xff"), "\ud800", "naïve 😀"])
    assert words == ["-d", "o\ufffd", "\ufffd", "naïve 😀"]


def in_json(value):
    return json.dumps({"n": 1, "x": value})


SHAPES = {
    "header line": "accept: a\r\nX-Api-Key: {}\r\nhost: h",
    "query": "GET /items?n=1&api_key={}&m=2",
    "query in brackets": "http://h/?user[password]={}",
    "percent-encoded name": "a=b&user%5Bpassword%5D={}&n=1",
    "path parameter": "http://h/a;jsessionid={}?n=1",
    "fragment": "http://h/#access_token={}&n=1",
    "quoted field": 'login password="a {} b" n=1',
    "setting": "db_password = '{}'",
    "yaml": "settings:\n  api_key: {}\n  n: 1",
    "user of a URL": "http://ann:{}@host/",
    "user of a database": "postgresql://ann:p/{}@host/db",
    "json member": '{{"n": 1, "token": "{}", "m": 2}}',
    "json object": '{{"credentials": {{"user": "ann", "as": ["{}"]}}, "n": 1}}',
    "json behind an escape": '{{"msg":"5\\" disk","token":"{}"}}',
    "json with an escaped name": '{{"p\\u0061ssword":"{}"}}',
    "json cut short": '{{"a": {{"secret": ["x", "{}',
    "json of a header": '[["authorization", "{}"], ["n", "1"]]',
    "json of a name and a value": '{{"name": "Authorization", "value": "{}"}}',
    "python dictionary": "KeyError: {{'password': '{}'}}",
    "xml element": "<a><ns:password kind='b'>{}</ns:password></a>",
    "xml text": "<password><![CDATA[{}<]]></password>",
    "xml attribute": '<user password="{}" n="1"/>',
    "multipart": '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{}\r\n--b--\r\n',
    "bearer": "error: Bearer {} is unknown",
    "sentence": "2026-01-01 INFO the api key: {} was refused",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "javascript web token": "it was eyJhbGciOi{}.eyJzdWIi.sig",
}
PLANTED = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789_-", min_size=12)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@given(secret=PLANTED.map(lambda text: f"7{text}"), inner=st.integers(0, 2))
def test_a_planted_secret_is_covered_once_and_for_all(shape, secret, inner):
    text = shape.format(secret)
    for _ in range(inner):
        text = in_json(text)
    saved = redacted_text(text)
    assert secret not in saved
    assert redacted_text(saved) == saved


# Where more than the secret itself is covered.
COVERED_IN = {
    "path parameter": "{}?n=1",
    "quoted field": "a {} b",
    "user of a database": "p/{}",
    "json object": '{{"user": "ann", "as": ["{}"]}}',
    "json cut short": '["x", "{}',
    "xml text": "<![CDATA[{}<]]>",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "javascript web token": "eyJhbGciOi{}.eyJzdWIi.sig",
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_secret_that_was_found_is_known_wherever_it_comes_back(name):
    secret = "q7Zr-9xWk_2"  # noqa: S105
    value = COVERED_IN.get(name, "{}").format(secret)
    known = known_secrets([SHAPES[name].format(secret)])
    assert value in known
    assert KnownSecrets(known).covered(f"it said {value} again") == "it said *** again"


@given(text=st.text(), secret=PLANTED)
def test_json_stays_json_and_loses_the_values_of_secret_members(text, secret):
    saved = redacted_text(json.dumps({"text": text, "token": secret, "n": [1, {"m": text}]}))
    found = json.loads(saved)
    assert (found["token"], found["n"][0]) == ("***", 1)


@given(text=st.text("tokenpaswrd=:&?\"'{}[]<>\\/@. \r\n%5B-", max_size=200))
def test_what_was_covered_stays_as_it_is(text):
    saved = redacted_text(text)
    assert redacted_text(saved) == saved


@pytest.mark.parametrize(
    "text",
    [
        '{"code": "model_not_found", "status": 404}',
        '{"max_tokens": 100, "token_type": "bearer", "token": null}',
        "/search?key=name&n=1",
        "invalid bearer token",
        "TokenError: no such thing",
        "the basic plan",
    ],
)
def test_what_only_sounds_like_a_secret_stays(text):
    assert redacted_text(text) == text


LONG_SHAPES = {
    "escaped quotes, cut in an escape": ('\\"', "\\"),
    "the first words of a part": ("content-disposition:", ""),
    "the names of parts in one line": ("content-disposition: name=a ", ""),
    "parts without a body": ("content-disposition: name=token\n", ""),
    "the first letters of a web token": ("-eyJ", ""),
    "web tokens without an end": ("-eyJaaaaaaaa", ".a"),
    "fields that are covered": ("token=***;", ""),
    "members that are covered": ('"token":"***', ""),
    "members within members": ('{"token":[', ""),
    "names in quotes": ("'token': '", "\\"),
    "open elements": ("<token><![CDATA[", ""),
    "addresses of databases": ("a://a:", ""),
    "templates without an end": ("token={{", ""),
    "private keys without an end": ("-----BEGIN PRIVATE KEY", ""),
}


@pytest.mark.parametrize(("piece", "end"), LONG_SHAPES.values(), ids=LONG_SHAPES)
def test_a_long_text_is_read_once_whatever_is_in_it(piece, end):
    """Reading it once more for each piece would take very long."""
    text = "token=hush-hush " + piece * (100_000 // len(piece)) + end
    assert redacted_text(text).startswith("token=*** ")


def test_a_long_flag_is_read_once():
    flag = "--" + "a_." * 10_000
    assert redacted_command([flag, "word", f"{flag}token", "hush"])[1::2] == ["word", "***"]


def test_a_text_that_was_cut_in_an_escape_within_another_keeps_no_secret():
    text = json.dumps({"x": json.dumps({"token": "hush-hush", "msg": "a\nb"})})
    for end in range(text.index("hush") + 1, len(text)):
        assert "hush" not in redacted_text(text[:end])


def test_half_a_character_in_a_json_string_stays_an_escape():
    saved = redacted_text(r'{"x": "\ud800 token=hush"}')
    assert json.loads(saved.encode()) == {"x": "\ud800 token=***"}


BEYOND_ASCII = "".join(map(chr, range(128, 0x110000)))
LIKE_ASCII = re.findall("[a-z]", BEYOND_ASCII, re.IGNORECASE)


@pytest.mark.parametrize("letter", LIKE_ASCII)
def test_a_letter_that_is_like_one_of_ascii_but_for_case_hides_no_secret(letter):
    for word in ("bas{}c", "ba{}ic", "to{}en"):
        name = word.format(letter)
        if re.fullmatch("basic|token", name, re.IGNORECASE):
            assert redacted_text(f"{name} aHVzaDpodXNo1") == f"{name} ***"


def strings_of(each):
    return [each.string] if isinstance(each.string, str) else [*each.string]


def test_no_sentence_of_torr_is_changed():
    texts = {text for one in messages.said().values() for text in (one.key, *one.english)}
    for language in languages()[1:]:
        texts |= {text for each in messages.read(language) for text in strings_of(each)}
    assert {text for text in texts if redacted_text(text) != text} == set()


def test_secrets_of_a_command_are_those_that_it_is_saved_without():
    words = ["--basic-auth", "ann:hush 1", "-HX-Key: hush-key-2", "http://h/?token=hush-3", "n"]
    assert {"hush 1", "hush-3"} <= set(secrets_of_command(words))
    assert Outside().with_secrets(secrets_of_command(words)).text("it said hush-3") == "it said ***"


@pytest.mark.parametrize("written", ["é", "c2VjcmV", "/w=="])
def test_a_basic_authorization_that_is_not_encoded_has_no_password(written):
    assert f"Basic {written}" in known_secrets([f"<token>Basic {written}</token>"])
