"""Names that secrets stand under: of headers, fields, members, variables and flags.

What a value is worth is told by its name, and for names that mean other things too by its looks.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

REDACTED = "***"
"""What is written in the place of a secret."""

PARTS_OF_NAMES = (
    *("authorization", "authentication", "x-auth", "cookie", "token", "secret", "passw", "pwd"),
    *("passphrase", "credential", "api-key", "access-key", "private-key", "subscription-key"),
    *("account-key", "shared-key", "signing-key", "encryption-key", "master-key"),
    *("functions-key", "session", "sessid", "csrf", "xsrf", "signature", "jwt", "bearer"),
)
"""A name that contains one of these holds a secret; hyphens, case and such do not count."""
WHOLE_NAMES = ("auth", "code", "key", "otp", "pass", "sig")
"""And so does a name that is one of these."""

_LONGEST_REMEMBERED = 200
_PARTS = re.compile("|".join(part.replace("-", "") for part in PARTS_OF_NAMES))
_NO_LETTER = re.compile(r"[\W_]+")
# They tell of a token, or name an error, and hold none.
_NO_SECRETS = re.compile(r"tokenizers?|tokentypes?|\w*(?:error|exception|warning)")
_SECRET_FLAG = re.compile(
    r"--?(?:[\w.-]*[-_.])?(?:authorization|cookie|token|secret|passw(?:or)?d|passphrase|pwd|"
    r"credentials?|api[-_]?key|access[-_]?key|secret[-_]?key|signature)",
    re.IGNORECASE,
)
_COUNT = re.compile(r"-?[\d.,]+")
# An error code, the name of a setting: nobody would take such a word for a secret.
_PLAIN_WORD = re.compile(r"[a-zA-Z]?[a-z_ -]{0,31}|\d{1,4}")


def is_secret(name: str) -> bool:
    """Whether a header, field, member or variable of this name holds a secret."""
    return _is_known(name) if len(name) <= _LONGEST_REMEMBERED else _is_secret(name)


def is_secret_flag(word: str) -> bool:
    """Whether the word behind this one is a secret: `--api-key`, but not `--api-key=…`.

    Its name ends with what it holds: `--tokens` and `--tokenizer` hold none.
    """
    return _SECRET_FLAG.fullmatch(word) is not None


def is_secret_value(name: str, value: str) -> bool:
    """Whether a value under a name is a secret that is not covered yet."""
    if not value or value.startswith(REDACTED) or not is_secret(name):
        return False
    if _COUNT.fullmatch(value) and ("tokens" in name.lower() or "count" in name.lower()):
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
