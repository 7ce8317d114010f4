"""An authority, whose certificate the servers over TLS have and torr trusts."""

from __future__ import annotations

import pytest

from authority import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("authority"))
    authority.sign("good")
    return authority
