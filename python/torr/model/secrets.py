"""What must not be written to disk: passwords, keys and tokens, wherever a command carries them.

Works on names, since a secret's value looks like anything: headers, query and form fields and JSON
members whose name says that they hold one, and the user and password of a URL. A secret under an
innocent name is not found. Text that was cut inside of a secret is covered to its end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = "***"
_USER_FLAG = "--basic-auth"
_CAPTURE_FLAG = "--capture"

_WORDS = (
    *("authorization", "x-auth", "cookie", "token", "secret", "passw", "pwd", "credential"),
    *("api[-_]?key", "access[-_]?key", "session", "csrf", "xsrf", "signature"),
)
_NAME = rf"(?:[\w.-]*(?:{'|'.join(_WORDS)})[\w.-]*|sig)"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_SECRET_FLAG = re.compile(
    r"--?(?:[\w.]+[-_.])*(?:authorization|cookie|token|secret|passw(?:or)?d|passphrase|pwd|"
    r"credentials?|api[-_]?key|access[-_]?key|secret[-_]?key|signature)",
    re.IGNORECASE,
)
_HEADER = re.compile(rf"^((?:-H|--header=)?\s*{_NAME}\s*:).+$", re.IGNORECASE | re.DOTALL)
# What stands for a value, `{{ row.token }}`, is covered as one.
_FIELD = re.compile(
    rf"((?:^|[?&\s'\"=$]){_NAME}=)(?:\{{\{{[^{{}}]*\}}\}}|[^&\s#'\"])+", re.IGNORECASE
)
_MEMBER = re.compile(rf'("{_NAME}"\s*:\s*)(?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\w.+-]+)', re.IGNORECASE)
# A member of JSON that is a text within JSON; its quotes have so many backslashes before them.
_INNER_MEMBER = re.compile(
    rf"((\\+)\"{_NAME}\2\"\s*:\s*)(?:\2\".*?(?:(?<!\\)\2\"|\Z)|[\w.+-]+)",
    re.IGNORECASE | re.DOTALL,
)
# How Python holds such a byte: half of a pair, which no encoding has.
_HALF = re.compile(r"[\ud800-\udfff]")
_USERINFO = re.compile(r"(://)[^/?#\s@]*(?:@[^/?#\s@]*)*@")


def is_secret(name: str) -> bool:
    """Whether a header or field of this name holds a secret."""
    return _SECRET_NAME.fullmatch(name) is not None


def is_secret_flag(word: str) -> bool:
    """Whether the word behind this one is a secret: `--api-key`, but not `--api-key=…`.

    Its name ends with what it holds: `--tokens` and `--tokenizer` hold none.
    """
    return _SECRET_FLAG.fullmatch(word) is not None


def redacted_text(text: str) -> str:
    """The text with the values of secret fields, members and URLs' users replaced by `***`."""
    text = _USERINFO.sub(rf"\1{REDACTED}@", text)
    text = _FIELD.sub(rf"\1{REDACTED}", text)
    text = _INNER_MEMBER.sub(rf'\1\2"{REDACTED}\2"', text)
    return _MEMBER.sub(rf'\1"{REDACTED}"', text)


def covered(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets that it names, and without these, wherever they stand."""
    text = redacted_text(text)
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def redacted_command(arguments: Iterable[str]) -> list[str]:
    """A command line fit to be saved: `-H 'Authorization: ***'`, `--basic-auth ***`."""
    words: list[str] = []
    for argument in arguments:
        if words[-1:] == [_USER_FLAG] or (words and is_secret_flag(words[-1])):
            words.append(REDACTED)
        elif words[-1:] == [_CAPTURE_FLAG]:
            words.append(argument)  # says where a value stands, not which it is
        elif argument.startswith(f"{_USER_FLAG}="):
            words.append(f"{_USER_FLAG}={REDACTED}")
        elif _HEADER.match(argument):
            words.append(_HEADER.sub(rf"\1 {REDACTED}", argument))
        else:
            words.append(redacted_text(argument))
    return [whole(word) for word in words]


def whole(text: str) -> str:
    """Return text that any file can hold: a byte of an argument that is no UTF-8 becomes `�`."""
    return _HALF.sub("\ufffd", text)
