"""Options of calls of gRPC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr.options import readers
from torr.options.definition import (
    EVERYWHERE,
    GRPC,
    SET_IN_PLAN_GROUPS,
    OptionScope,
    many,
    option,
    switch,
)


@dataclass(frozen=True, slots=True)
class GrpcOptions:
    """Which method is called, where its types are from, and how messages are sent."""

    group: ClassVar[str] = GRPC
    scopes: ClassVar[OptionScope] = EVERYWHERE

    grpc: str | None = option(
        "--grpc",
        readers.GRPC_METHOD,
        "call package.Service/Method; -b is its message as JSON",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    proto_files: tuple[str, ...] = many(
        "--proto",
        readers.FILE,
        "take the message types from a .proto file (repeatable)",
        rare=True,
        plural=True,
    )
    proto_paths: tuple[str, ...] = many(
        "--proto-path",
        readers.EXISTING_FOLDER,
        "look for imports of --proto in DIR [its folder]",
        rare=True,
        plural=True,
    )
    descriptor_set: str | None = option(
        "--descriptor-set",
        readers.FILE,
        "take the message types from a descriptor set",
        rare=True,
    )
    # The plans of a comparison are made before its servers run.
    reflection: bool = switch(
        "--reflection",
        "take the message types from the server",
        rare=True,
        scopes=EVERYWHERE & ~OptionScope.MATRIX,
    )
    grpc_gzip: bool = switch("--grpc-gzip", "compress messages of calls by gzip", rare=True)
    message_interval_ns: int | None = option(
        "--message-interval",
        readers.SOME_DURATION,
        "send the messages of a stream TIME apart",
        rare=True,
    )
    send_together: bool = switch(
        "--send-together",
        "send all messages of a bidirectional call at once",
        rare=True,
    )
