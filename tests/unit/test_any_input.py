"""Whatever the bytes of others are, a reader gives a result or says what is wrong with them."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pprof_bytes import BOTH, message, number, packed, profile
from torr.errors import FileError, UsageError
from torr.model.json_input import JsonInputError, parse_json
from torr.model.known_secrets import KnownSecrets
from torr.model.outside import Outside
from torr.model.secrets import known_secrets, redacted_command, redacted_text
from torr.profile import pprof
from torr.results.result import decoded
from torr.sources import benchmark_file, dat_file, har
from torr.sources.requests import read_requests
from torr.sources.rows import columns_of, values_of
from torr.sources.times import read_times
from torr.stats.histogram import Histogram

EXAMPLES = settings(max_examples=60)
# Pieces that notations are made of, so that texts are nearly in one of them.
PIECES = st.sampled_from(
    [
        *(
            '"',
            "'",
            "\\",
            "\\\\",
            "\n",
            "\r\n",
            " ",
            "=",
            "=>",
            "&",
            ";",
            ":",
            ",",
            "?",
            "#",
            "@",
            "/",
        ),
        *("{", "}", "[", "]", "{{", "}}", "<", ">", "</", "<![CDATA[", "]]>", "://", "***", "--"),
        *("token", "password", "code", "key", "count", "Bearer ", "Basic ", "eyJ", "sk-", "AKIA"),
        *('"token":', "'token': ", '["token",', '"name":"token","value":', "token=", "<token>"),
        *("content-disposition: form-data; name=", "-----BEGIN PRIVATE KEY-----", "%5B", "\\u0041"),
        *("postgresql://u:p@h", "a", "1", "12345678", "\x1b[2J", "é", "\ud800", "\x00"),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@EXAMPLES
@given(TEXTS)
def test_redaction_ends_with_a_text_that_can_be_printed(text):
    saved = Outside().text(text)
    assert "\x1b" not in saved
    assert isinstance(redacted_text(text), str)
    assert all(len(secret) >= 4 for secret in known_secrets([text]))
    assert len(redacted_command([text, text])) == 2


@EXAMPLES
@given(VALUES)
def test_json_that_is_fit_to_be_kept_is_read_as_it_is(value):
    fit = Outside().json(value)
    assert parse_json(json.dumps(fit, allow_nan=False)) == fit


@EXAMPLES
@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_known_secrets_are_not_in_a_covered_text(secrets, text):
    saved = KnownSecrets(secrets).covered(text)
    assert not any(secret in saved for secret in secrets if secret and "*" not in secret)


@EXAMPLES
@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
@example(b"[" * 100_000)
@example(b"1" * 5000)
@example(rb'{"\ud800": null}')
def test_json_is_a_value_or_an_error_of_its_own(data):
    with suppress(JsonInputError):
        parse_json(data)
    with suppress(UsageError):
        decoded(data, "it")


WHOLE = profile(*BOTH)
NUMBERS = st.integers(0, 2**64 - 1)
FIELDS = st.builds(number, st.integers(0, 15), NUMBERS)
PROFILES = st.one_of(
    st.binary(max_size=100),
    st.lists(FIELDS | st.builds(packed, st.integers(0, 15), NUMBERS), max_size=8).map(b"".join),
    st.builds(message, st.integers(0, 15), FIELDS).map(lambda more: WHOLE + more),
    st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4)).map(
        lambda change: WHOLE[: change[0]] + change[1] + WHOLE[change[0] + len(change[1]) :]
    ),
)


@EXAMPLES
@given(PROFILES | PROFILES.map(gzip.compress) | PROFILES.map(lambda x: gzip.compress(x)[:-3]))
def test_a_profile_is_stacks_or_an_error(data):
    with suppress(UsageError):
        pprof.read(data)


NAMED = st.fixed_dictionaries({"name": TEXTS | VALUES}, optional={"value": TEXTS | VALUES})
POSTED = st.fixed_dictionaries(
    {"mimeType": TEXTS | VALUES},
    optional={
        "text": TEXTS,
        "encoding": st.just("base64"),
        "params": st.lists(NAMED | VALUES, max_size=2),
    },
)
RECORDED = st.fixed_dictionaries(
    {"method": st.just("POST"), "url": st.just("http://h/")},
    optional={"headers": st.lists(NAMED, max_size=2) | VALUES, "postData": POSTED | VALUES},
)
ANY = st.fixed_dictionaries({"method": VALUES, "url": st.just("http://h/") | VALUES}) | VALUES
HARS = st.one_of(
    RECORDED.map(lambda request: [{"request": request}]),
    st.lists(st.fixed_dictionaries({"request": ANY}) | VALUES, max_size=2) | VALUES,
)


@settings(max_examples=200)
@given(HARS)
def test_a_har_file_is_requests_or_an_error(recorded):
    with suppress(UsageError):
        entries, left_out = har.read(Path("x.har"), {"log": {"entries": recorded}})
        assert len(entries) + left_out == len(recorded)
        assert all(isinstance(entry.body, bytes | None) for entry in entries)
        assert not any("\n" in value for entry in entries for _, value in entry.headers)


FILES = st.one_of(
    st.binary(max_size=100),
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.floats().map(repr) | st.integers().map(str) | TEXTS, max_size=12).map(
        lambda words: " ".join(words).encode("utf-8", "surrogatepass")
    ),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder whose files are written again for each example."""
    return tmp_path_factory.mktemp("any")


@EXAMPLES
@given(data=FILES)
@example(data=b"1 1e308 1 1\n")
@example(data=b"1" * 5000 + b" 1 1 1\n")
def test_a_dat_is_a_series_or_an_error(place, data):
    (place / "a.dat").write_bytes(data)
    with suppress(UsageError):
        assert all(0 <= point.ok_per_s <= 1e15 for point in dat_file.read(place / "a.dat").points)


@EXAMPLES
@given(data=FILES, name=st.sampled_from(["a.http", "a.har", "a.jsonl", "a"]))
def test_a_file_of_requests_is_requests_or_an_error(place, data, name):
    (place / name).write_bytes(data)
    with suppress(UsageError):
        assert read_requests(place / name).entries


@EXAMPLES
@given(data=FILES, name=st.sampled_from(["a.csv", "a.jsonl"]))
def test_a_file_of_rows_has_columns_or_an_error(place, data, name):
    (place / name).write_bytes(data)
    with suppress(UsageError):
        columns = columns_of(place / name)
        assert all(isinstance(each, str) for each in values_of(place / name, columns, 10))


@EXAMPLES
@given(data=FILES, speed=st.floats(min_value=5e-324, max_value=1e300))
@example(data=b"1" * 5000, speed=1.0)
@example(data=b"0\n" + b"1" * 400, speed=2.0)
@example(data=b"0\n1\n", speed=1e-300)
def test_a_file_of_times_is_times_or_an_error(place, data, speed):
    (place / "a").write_bytes(data)
    with suppress(UsageError):
        times = read_times(place / "a", speed)
        assert times == sorted(times)


@EXAMPLES
@given(value=VALUES)
def test_a_file_of_benchmarks_is_a_result_or_an_error(place, value):
    stats = {"data": value, "iterations": value, "rounds": 1, "mean": 1.0, "stddev": value}
    found = {"benchmarks": [{"name": "a", "params": {"x": value}, "stats": stats}]}
    (place / "a.json").write_text(json.dumps({**found, "datetime": "2026-01-31T12:00:00"}))
    with suppress(UsageError):
        benchmark_file.read(place / "a.json")


@EXAMPLES
@given(st.binary(max_size=200) | st.binary(max_size=200).map(lambda x: bytes(8) + zlib.compress(x)))
def test_a_histogram_is_counts_or_an_error(data):
    with suppress(UsageError):
        Histogram.read(base64.b64encode(data).decode())


def test_an_error_of_a_line_is_an_error_of_usage():
    assert issubclass(FileError, UsageError)
