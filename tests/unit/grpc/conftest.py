"""Schemas of two files, and messages as protobuf itself writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from command_line import quick_pictures, torr
from torr.grpc.proto_files import read_proto_files

__all__ = ["quick_pictures", "torr"]

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def schema():
    return read_proto_files([str(HERE / "shop.proto"), str(HERE / "old.proto")])


@pytest.fixture(scope="session")
def method(schema):
    """Return the method with this name."""
    return schema.method


@pytest.fixture(scope="session")
def written():
    """Return the bytes of a value of JSON as protobuf writes them."""

    def write(type_, value):
        message = ParseDict(value, GetMessageClass(type_)(), descriptor_pool=type_.file.pool)
        return message.SerializeToString(deterministic=True)

    return write
