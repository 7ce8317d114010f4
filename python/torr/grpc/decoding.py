"""Messages of gRPC as JSON, for people: the names and the defaults are those of protobuf's JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.grpc.framing import FrameError, unframed
from torr.grpc.types import message_class

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

    from torr.model.grpc import ShowMessage


@dataclass(frozen=True, slots=True)
class MessageReader:
    """The reader of messages of one type."""

    type: Descriptor

    def __call__(self, data: bytes) -> str:
        """Return a message as JSON; raise FrameError for bytes that are not one."""
        from google.protobuf.json_format import MessageToJson, SerializeToJsonError
        from google.protobuf.message import DecodeError

        try:
            message = message_class(self.type).FromString(data)
            return MessageToJson(message, ensure_ascii=False, descriptor_pool=self.type.file.pool)
        except (DecodeError, SerializeToJsonError, TypeError) as error:
            raise FrameError(f"a message is not of type {self.type.full_name}: {error}") from error


def shown_messages(body: bytes, show: ShowMessage) -> list[str]:
    """Return the messages in a body as JSON; raise FrameError."""
    return [show(message) for message in unframed(body)]
