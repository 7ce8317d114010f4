"""The schema of a server, from answers to questions as grpc.reflection has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from torr.errors import NothingMeasuredError, UsageError
from torr.grpc.framing import framed, unframed
from torr.grpc.proto_files import _compile
from torr.grpc.reflection import _messages, read_by_reflection
from torr.results.exchange import Exchange, ResponseHead

SERVICES = ["shop.Cart", "grpc.health.v1.Health"]


@pytest.fixture(scope="session")
def descriptors(tmp_path_factory):
    """The files of a schema by name, of which one imports others."""
    path = tmp_path_factory.mktemp("set") / "set.bin"
    here = Path(__file__).parent
    _compile([str(here / "shop.proto")], [str(here)], path)
    files = {file.name: file for file in FileDescriptorSet.FromString(path.read_bytes()).file}
    # Under a name that protobuf does not know, so that the server has to be asked for it.
    time = files.pop("google/protobuf/timestamp.proto")
    time.name = "own/time.proto"
    files[time.name] = time
    own = files["shop.proto"]
    own.dependency[list(own.dependency).index("google/protobuf/timestamp.proto")] = time.name
    return files


class FakeServer:
    """A server that answers questions; it has only one version of the service."""

    def __init__(self, files, version="v1", **more):
        self.files = files
        self.version = version
        self.paths = []
        self.asked = []
        self.more = more

    def ask(self, path, body):
        self.paths.append(path)
        if "exchange" in self.more:
            return self.more["exchange"]
        if f".{self.version}." not in path:
            return ended(12)
        question, answer = _messages()
        answers = [
            self.answer(question.FromString(each), answer()).SerializeToString()
            for each in unframed(body)
        ]
        return ended(0, self.more.get("body", framed(answers)))

    def answer(self, question, answer):
        if question.list_services:
            for name in SERVICES:
                answer.list_services_response.service.add(name=name)
            return answer
        name = question.file_by_filename or "shop.proto"
        self.asked.append(question.file_by_filename or question.file_containing_symbol)
        if question.file_containing_symbol not in ("", "shop.Cart") or name not in self.files:
            answer.error_response.error_code = self.more.get("code", 5)
            answer.error_response.error_message = "gone"
            return answer
        contents = self.more.get("content") or self.files[name].SerializeToString()
        answer.file_descriptor_response.file_descriptor_proto.append(contents)
        return answer


def ended(code, body=b"", status=200):
    fields = [] if code is None else [("grpc-status", f"{code}"), ("grpc-message", "why")]
    head = ResponseHead(version="2", status=status)
    return Exchange(error_class="ok", status=status, head=head, trailers=fields, body=body)


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_a_server_is_asked_for_a_service_and_for_what_its_files_import(descriptors, version):
    server = FakeServer(descriptors, version)
    schema = read_by_reflection("h:1", "shop.Cart", server.ask)
    assert schema.method("shop.Cart/Add").request.fields_by_name["at"].number == 17
    # Files that come with protobuf are not asked for.
    assert server.asked == ["shop.Cart", "own/time.proto"]
    assert server.paths[-1].startswith(f"/grpc.reflection.{version}.ServerReflection/")


def refused(server, service="shop.Cart"):
    with pytest.raises((UsageError, NothingMeasuredError)) as error:
        read_by_reflection("h:1", service, server.ask)
    return error.value.message, error.value.hint


def test_an_unknown_service_is_answered_with_those_of_the_server(descriptors):
    server = FakeServer(descriptors)
    message, hint = refused(server, "shop.Carts")
    assert (message, hint) == ("h:1 has no service shop.Carts", "did you mean shop.Cart?")
    assert refused(server, "x")[1] == "known services: shop.Cart, grpc.health.v1.Health"


@pytest.mark.parametrize(
    ("version", "more", "says", "hint"),
    [
        ("v7", {}, "h:1 has no reflection", "give --proto FILE"),
        ("v1", {"exchange": ended(None, status=404)}, "h:1 has no reflection", "--proto"),
        ("v1", {"exchange": ended(None)}, "does not answer as a gRPC server", "port"),
        ("v1", {"exchange": ended(16)}, "reflection ended with UNAUTHENTICATED (16): why", "-H"),
        ("v1", {"body": b"\x00"}, "cannot be read: the last frame", "--proto"),
        ("v1", {"body": framed([b"\xff"])}, "cannot be read: ", "--proto"),
        ("v1", {"body": b""}, "cannot be read: 0 answers to 1 questions", "--proto"),
        ("v1", {"content": b"\xff"}, "cannot be read: ", "--proto"),
    ],
)
def test_a_server_without_a_usable_answer_is_said(descriptors, version, more, says, hint):
    message, advice = refused(FakeServer(descriptors, version, **more))
    assert says in message
    assert hint in advice


def test_other_errors_of_a_server_are_said_with_their_number():
    message, _ = refused(FakeServer({}, code=13))
    assert message == "h:1: the answer of reflection cannot be read: error 13: gone"


def test_a_file_that_the_server_does_not_have_is_named(descriptors):
    server = FakeServer({"shop.proto": descriptors["shop.proto"]})
    assert refused(server)[0] == "h:1: shop.proto imports own/time.proto, which is missing"
    assert server.asked == ["shop.Cart", "own/time.proto"]
