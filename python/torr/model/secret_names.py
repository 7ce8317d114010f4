"""Names of secrets: of headers, fields, members, variables and flags.

The name decides whether a value is secret. For an ambiguous name, such as `key`, the form of the
value decides too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

REDACTED = "***"
"""The text that replaces a secret."""

PARTS_OF_NAMES = (
    *("authorization", "authentication", "x-auth", "cookie", "token", "secret", "passw", "pwd"),
    *("passphrase", "credential", "api-key", "access-key", "private-key", "subscription-key"),
    *("account-key", "shared-key", "signing-key", "encryption-key", "master-key"),
    *("functions-key", "session", "sessid", "csrf", "xsrf", "signature", "jwt", "bearer"),
)
"""A name that contains one of these is that of a secret; only its letters and digits count."""
WHOLE_NAMES = ("auth", "code", "key", "otp", "pass", "sig")
"""A name that equals one of these is that of a secret, too."""

_LONGEST_REMEMBERED = 200
_PARTS = re.compile("|".join(part.replace("-", "") for part in PARTS_OF_NAMES))
_NO_LETTER = re.compile(r"[\W_]+")
# Names of properties of a token, of numbers of tokens, or of errors, whose values are not secret.
# `tokens` alone may be a list of secrets.
_NO_SECRETS = re.compile(
    r"tokenizers?|tokentypes?|tokenenv|(?:prompt|output|stop)?tokenids"
    r"|(?:max|min|mean|total|input|output|prompt|completion|prefix|message|block|kv|cached|cache|read"
    r"|creation|reasoning|audio|text|image|synthetic|generated|new|predicted|budget)+tokens(?:mean)?"
    r"|\w*(?:error|exception|warning)"
)
_SECRET_FLAG = re.compile(
    r"--?(?:[\w.-]*[-_.])?(?:authorization|cookie|token|secret|passw(?:or)?d|passphrase|pwd|"
    r"credentials?|api[-_]?key|access[-_]?key|secret[-_]?key|signature)",
    re.IGNORECASE,
)
_NAME_OF_COUNT = re.compile(r"tokens|(?<!ac)(?<!dis)count", re.IGNORECASE)
# A number, and words about it: `5 is too large`.
_COUNT = re.compile(r"-?[\d.,]+(?: [a-z\u4e00-\u9fff ]*)?")
# The name of a value that is filled in later: `--token={token}`.
_PLACEHOLDER = re.compile(r"\{[A-Za-z_]\w*\}")
# An error code or the name of a setting, not a secret.
_PLAIN_WORD = re.compile(r"[a-zA-Z]?[a-z_ -]{0,31}|\d{1,4}")


def is_secret(name: str) -> bool:
    """Return whether a header, field, member or variable of this name holds a secret."""
    return _is_known(name) if len(name) <= _LONGEST_REMEMBERED else _is_secret(name)


def is_secret_flag(flag: str) -> bool:
    """Return whether the argument behind a flag is a secret: `--api-key`, but not `--api-key=…`.

    The name must end with that of a secret: `--tokens` and `--tokenizer` do not.
    """
    return _SECRET_FLAG.fullmatch(flag) is not None


def is_secret_value(name: str, value: str) -> bool:
    """Return whether a value under a name is a secret that is not covered yet."""
    if not value or value.startswith(REDACTED) or not is_secret(name):
        return False
    if _PLACEHOLDER.fullmatch(value):
        return False
    if _COUNT.fullmatch(value) and _NAME_OF_COUNT.search(name):
        return False
    return name.lower() not in {"code", "key"} or _PLAIN_WORD.fullmatch(value) is None


@lru_cache(maxsize=4096)
def _is_known(name: str) -> bool:
    return _is_secret(name)


def _is_secret(name: str) -> bool:
    letters = _NO_LETTER.sub("", unquote(name)).lower()
    if _NO_SECRETS.fullmatch(letters):
        return False
    return letters in WHOLE_NAMES or _PARTS.search(letters) is not None
