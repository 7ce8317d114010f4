"""The schema of a running server, which answers the calls of grpc.reflection.

A call is one POST whose body has all questions; the response has an answer to each. Versions v1 and
v1alpha differ in the name of the service only. This module opens no connection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torr.errors import NothingMeasuredError, UsageError
from torr.grpc.framing import FrameError, framed, unframed
from torr.grpc.schema import Schema, known_file, protobuf, schema_of
from torr.grpc.status import NOT_FOUND, OK, UNIMPLEMENTED, status_of
from torr.grpc.types import message_class
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.model.printable import safe_text

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.message import Message

    from torr.results.exchange import Exchange

Ask = Callable[[str, bytes], "Exchange"]
"""Sends a body to a path, and returns the exchange of a complete response."""

VERSIONS = ("v1", "v1alpha")
_MOST_NAMES = 8
_HTTP_OK = 200
_GIVE_FILES = say("give --proto FILE or --descriptor-set FILE")


def read_by_reflection(address: str, service: str, ask: Ask) -> Schema:
    """Return the schema of a service of a server; raise UsageError if the server has none."""
    protobuf()
    server = _Server.of(address, ask)
    (answer,) = server.answers([{"file_containing_symbol": service}])
    if answer.HasField("error_response"):
        raise server.unknown(service, answer)
    files = {file.name: file for file in server.files_in(answer)}
    asked: set[str] = set()
    while missing := sorted(_imported(files) - {*files, *asked}):
        asked.update(missing)
        for answer in server.answers([{"file_by_filename": name} for name in missing]):
            files |= {file.name: file for file in server.files_in(answer)}
    return schema_of(address, files.values())


def _imported(files: dict[str, FileDescriptorProto]) -> set[str]:
    """Return the files that are imported, without those that come with protobuf."""
    names = {name for file in files.values() for name in file.dependency}
    return {name for name in names if name in files or known_file(name) is None}


@dataclass(frozen=True, slots=True)
class _Server:
    address: str
    path: str
    ask: Ask
    services: tuple[str, ...] = ()

    @classmethod
    def of(cls, address: str, ask: Ask) -> _Server:
        """Return the server with the newest version that it has."""
        for version in VERSIONS:
            path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
            server = cls(address, path, ask)
            answers = server.answers([{"list_services": "*"}])
            if answers:
                listed = answers[0].list_services_response.service
                return replace(server, services=tuple(safe_text(each.name) for each in listed))
        raise UsageError(say("{address} has no reflection", address=address), _GIVE_FILES)

    def answers(self, questions: list[dict[str, str]]) -> list[Any]:
        """Return the answer to each question, none if the server has not this version."""
        request, response = _messages()
        body = framed([request(**question).SerializeToString() for question in questions])
        exchange = self.ask(self.path, body)
        status = status_of(exchange)
        if status is None:
            if exchange.status != _HTTP_OK:
                return []
            raise NothingMeasuredError(
                say("{address} does not answer as a gRPC server", address=self.address),
                say("check the port"),
            )
        if status.code == UNIMPLEMENTED:
            return []
        if status.code != OK:
            raise NothingMeasuredError(
                say(
                    "{address}: reflection ended with {status}",
                    address=self.address,
                    status=status.text,
                ),
                say("give the metadata that the server asks for by -H, or --proto FILE"),
            )
        return self._read(exchange.body, response, len(questions))

    def _read(self, body: bytes, response: type[Message], count: int) -> list[Any]:
        from google.protobuf.message import DecodeError

        try:
            found = [response.FromString(message) for message in unframed(body)]
        except (FrameError, DecodeError) as error:
            raise self._broken(str(error)) from error
        if len(found) != count:
            raise self._broken(f"{len(found)} answers to {count} questions")
        return found

    def files_in(self, answer: Any) -> list[FileDescriptorProto]:  # noqa: ANN401 - dynamic
        """Return the files of an answer; none for an error, since the pool misses the file then."""
        from google.protobuf.descriptor_pb2 import FileDescriptorProto
        from google.protobuf.message import DecodeError

        try:
            contents = answer.file_descriptor_response.file_descriptor_proto
            return [FileDescriptorProto.FromString(content) for content in contents]
        except DecodeError as error:
            raise self._broken(str(error)) from error

    def unknown(self, service: str, answer: Any) -> UsageError:  # noqa: ANN401 - dynamic
        """Return the error for a service that the server does not know."""
        error = answer.error_response
        if error.error_code != NOT_FOUND:
            text = safe_text(error.error_message)
            return self._broken(f"error {error.error_code}: {text}")
        names = self.services
        more = ", …" if len(names) > _MOST_NAMES else ""
        known = say("known services: {names}", names=", ".join(names[:_MOST_NAMES]) + more)
        return UsageError(
            say("{address} has no service {service}", address=self.address, service=service),
            did_you_mean(service, names) or (known if names else _GIVE_FILES),
        )

    def _broken(self, reason: str) -> UsageError:
        return UsageError(
            say(
                "{address}: the answer of reflection cannot be read: {reason}",
                address=self.address,
                reason=reason,
            ),
            _GIVE_FILES,
        )


def _messages() -> tuple[type[Message], type[Message]]:
    """Return the classes of questions and answers."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

    text, number, message = 9, 5, 11
    contents, one, repeated = 12, 1, 3
    file = FileDescriptorProto(name="torr/reflection.proto", syntax="proto3")

    def add(name: str, *fields: tuple[str, int, int, int, str]) -> None:
        added = file.message_type.add(name=name)
        for field, place, type_, label, of in fields:
            own = {"type_name": of} if of else {}
            added.field.add(name=field, number=place, type=type_, label=label, **own)

    add(
        "Question",
        ("file_by_filename", 3, text, one, ""),
        ("file_containing_symbol", 4, text, one, ""),
        ("list_services", 7, text, one, ""),
    )
    add("Files", ("file_descriptor_proto", 1, contents, repeated, ""))
    add("Service", ("name", 1, text, one, ""))
    add("Services", ("service", 1, message, repeated, "Service"))
    add("Error", ("error_code", 1, number, one, ""), ("error_message", 2, text, one, ""))
    add(
        "Answer",
        ("file_descriptor_response", 4, message, one, "Files"),
        ("list_services_response", 6, message, one, "Services"),
        ("error_response", 7, message, one, "Error"),
    )
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    found = [message_class(pool.FindMessageTypeByName(name)) for name in ("Question", "Answer")]
    return found[0], found[1]
