"""The services of a server and the types of their messages, from descriptors.

Descriptors come from `.proto` files, a descriptor set, or the server itself: see `proto_files` and
`reflection`. protobuf is imported only where there is a schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.grpc.method_name import method_name, service_of
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.model.outside_file import read_bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.descriptor import Descriptor
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

INSTALL = "pip install 'torr[grpc]'"
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a service: the types of its messages, and which sides send several."""

    name: str
    request: Descriptor
    response: Descriptor
    request_stream: bool = False
    response_stream: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """Methods by names such as `shop.Cart/Add`, in the order in which they are defined.

    `origin` is the file, or the server, that they are from.
    """

    origin: str
    methods: dict[str, Method]

    def method(self, name: str) -> Method:
        """Return a method; raise UsageError with the nearest names for an unknown one.

        `shop.Cart.Add` and `/shop.Cart/Add` are accepted, too.
        """
        wanted = method_name(name)
        if wanted in self.methods:
            return self.methods[wanted]
        raise UsageError(
            say("{origin} has no method {name}", origin=self.origin, name=wanted),
            self._hint(wanted),
        )

    def _hint(self, wanted: str) -> str:
        if not self.methods:
            return say("it has no service: give the file that defines the service")
        own = [name for name in self.methods if service_of(name) == service_of(wanted)]
        similar = did_you_mean(wanted, own or self.methods)
        if similar is not None:
            return similar
        names = own or list(self.methods)
        more = ", …" if len(names) > _MOST_NAMES else ""
        return say("known methods: {names}", names=", ".join(names[:_MOST_NAMES]) + more)


def schema_of(origin: str, files: Iterable[FileDescriptorProto]) -> Schema:
    """Return the schema of files, in any order; raise UsageError for one that is missing."""
    known = {file.name: file for file in files}
    pool = _pool(origin, known)
    methods = {method.name: method for file in known.values() for method in _methods(pool, file)}
    return Schema(origin, methods)


def read_descriptor_set(path: Path) -> Schema:
    """Return the schema of a descriptor set, as protoc and buf write it; raise UsageError."""
    protobuf()
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    try:
        files = FileDescriptorSet.FromString(read_bounded(path)).file
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except DecodeError as error:
        raise UsageError(
            say("{path} is not a descriptor set", path=path), _HOW_TO_WRITE_A_SET
        ) from error
    if not files:
        raise UsageError(say("{path} is not a descriptor set", path=path), _HOW_TO_WRITE_A_SET)
    return schema_of(str(path), files)


_HOW_TO_WRITE_A_SET = say(
    "write one: protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE"
)


def protobuf() -> None:
    """Raise UsageError unless protobuf is installed."""
    try:
        import google.protobuf.descriptor_pb2  # noqa: F401
    except ImportError as error:
        raise UsageError(say("--grpc needs the protobuf library"), INSTALL) from error


def _pool(origin: str, files: dict[str, FileDescriptorProto]) -> DescriptorPool:
    """Return a pool of the files, each after those that it imports."""
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    added: set[str] = set()

    def add(name: str, importer: str) -> None:
        if name in added:
            return
        added.add(name)
        file = files.get(name) or known_file(name)
        if file is None:
            raise UsageError(
                say(
                    "{origin}: {importer} imports {name}, which is missing",
                    origin=origin,
                    importer=importer,
                    name=name,
                ),
                _HOW_TO_WRITE_A_SET,
            )
        for imported in file.dependency:
            add(imported, name)
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except TypeError as error:
            raise UsageError(
                say(
                    "{origin}: {name} is not a valid file: {error}",
                    origin=origin,
                    name=name,
                    error=error,
                )
            ) from error

    for name in files:
        add(name, name)
    return pool


def known_file(name: str) -> FileDescriptorProto | None:
    """Return a file that comes with protobuf, such as `google/protobuf/timestamp.proto`."""
    if not name.startswith("google/protobuf/"):
        return None
    from importlib import import_module

    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    try:
        module = import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
    except ImportError:
        return None
    return FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def _methods(pool: DescriptorPool, file: FileDescriptorProto) -> Iterator[Method]:
    for service in file.service:
        full = f"{file.package}.{service.name}" if file.package else service.name
        for method in service.method:
            yield Method(
                name=f"{full}/{method.name}",
                request=pool.FindMessageTypeByName(method.input_type.removeprefix(".")),
                response=pool.FindMessageTypeByName(method.output_type.removeprefix(".")),
                request_stream=method.client_streaming,
                response_stream=method.server_streaming,
            )
