"""Secrets are found by the names that they stand under, wherever a command carries them."""

from __future__ import annotations

import os
import re

import pytest

from documents import ROOT
from torr.model.secrets import is_secret, redacted_command, redacted_text


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "apikey"),
        *("X-Auth-Token", "access_token", "client_secret", "password", "passwd", "api_key"),
        *("X-Auth", "X-Session", "X-CSRF", "X-Amz-Signature", "sig", "access_key", "pwd"),
    ],
)
def test_these_names_hold_secrets(name):
    assert is_secret(name)


def test_the_names_are_those_of_the_page():
    page = (ROOT / "docs/one-request.md").read_text()
    (listed,) = re.findall(r"one of these\nin it: (.*?) \(or is `sig`\)", page, re.DOTALL)
    names = listed.replace("\n", " ").split(", ")
    assert len(names) == 14
    assert all(is_secret(f"x{name}y") for name in names)


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
    "name", ["accept", "content-type", "x-user", "host", "key", "page", "author", "design"]
)
def test_these_names_do_not(name):
    assert not is_secret(name)


@pytest.mark.parametrize(
    ("arguments", "saved"),
    [
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
