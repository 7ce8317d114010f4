"""Schemas of `.proto` files and descriptor sets, and names of methods."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from torr.errors import FileError, UsageError
from torr.grpc.method_name import method_name
from torr.grpc.proto_files import read_proto_files
from torr.grpc.schema import known_file, read_descriptor_set, schema_of

HERE = Path(__file__).parent
SMALL = """\
syntax = "proto3";
package a;
%s
message M { %s }
service S { rpc Call(M) returns (M); }
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write files below an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.proto"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_a_file_has_methods_with_their_streams_and_types(schema):
    assert list(schema.methods) == [
        *("shop.Cart/Add", "shop.Cart/Watch", "shop.Cart/Fill", "shop.Cart/Chat"),
        *("shop.Cart/Any", "old.Store/Put"),
    ]
    streams = [(m.request_stream, m.response_stream) for m in schema.methods.values()]
    assert streams[:4] == [(False, False), (False, True), (True, False), (True, True)]
    add = schema.method("shop.Cart/Add")
    assert (add.request.full_name, add.response.full_name) == ("shop.Item", "shop.Receipt")


@pytest.mark.parametrize("name", ["shop.Cart/Add", "/shop.Cart/Add", " shop.Cart.Add "])
def test_a_method_has_several_spellings(schema, name):
    assert schema.method(name).name == "shop.Cart/Add"


@pytest.mark.parametrize(
    "name", ["", "Add", "/Add", "shop.Cart/", "shop..Cart/Add", "a b/C", "a/b/c"]
)
def test_what_is_not_the_name_of_a_method_is_refused(name):
    with pytest.raises(UsageError, match="is not the name of a method") as error:
        method_name(name)
    assert error.value.hint == "write package.Service/Method"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("shop.Cart/Ad", "did you mean shop.Cart/Add?"),
        ("shop.Carts/Add", "did you mean shop.Cart/Add?"),
        ("Cart/Add", "did you mean shop.Cart/Add?"),
        ("x.Y/Z", "known methods: shop.Cart/Add, shop.Cart/Watch"),
    ],
)
def test_an_unknown_method_is_answered_with_near_ones(schema, name, hint):
    with pytest.raises(UsageError, match=f"has no method {name}") as error:
        schema.method(name)
    assert error.value.hint.startswith(hint)


def test_a_schema_without_a_service_says_so(files):
    files(a='syntax = "proto3";\nmessage M {}\n')
    with pytest.raises(UsageError, match=r"a\.proto has no method x\.Y/Z") as error:
        read_proto_files(["a.proto"]).method("x.Y/Z")
    assert "no service" in error.value.hint


def test_imports_are_found_beside_the_file_in_the_current_folder_and_in_given_ones(files):
    files(
        sub__a=SMALL % ('import "b.proto";\nimport "sub/c.proto";', "b.B b = 1; c.C c = 2;"),
        sub__b='syntax = "proto3";\npackage b;\nmessage B {}\n',
        sub__c='syntax = "proto3";\npackage c;\nmessage C {}\n',
    )
    assert "a.S/Call" in read_proto_files(["sub/a.proto"]).methods
    files(
        x__d=SMALL % ('import "e.proto";', "e.E e = 1;"),
        y__e='syntax = "proto3";\npackage e;\nmessage E {}\n',
    )
    assert "a.S/Call" in read_proto_files(["x/d.proto"], ["x", "y"]).methods


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        (SMALL % ("", "Missing m = 1;"), '4: "Missing" is not defined.', None),
        (SMALL % ("", "int32 = 1;"), "4: Expected", None),
        (SMALL % ('import "no.proto";', ""), '3: Import "no.proto" was not', "give --proto-path"),
    ],
)
def test_an_error_of_protoc_names_file_and_line(files, text, says, hint):
    files(sub__a=text, sub__b='import "a.proto";\n')
    for given in ("a.proto", "b.proto") if hint is None else ("a.proto",):
        with pytest.raises(FileError) as error:
            read_proto_files([f"sub/{given}"])
        assert error.value.message.startswith(f"sub/a.proto:{says}")
        assert (error.value.hint or "").startswith(hint or "")


def test_a_file_outside_of_the_given_folders_is_refused(files):
    files(a=SMALL % ("", ""), sub__b="")
    with pytest.raises(UsageError, match=r"--proto a\.proto: not in a folder of --proto-path"):
        read_proto_files(["a.proto"], ["sub"])


def test_missing_libraries_are_named_with_how_to_install_them(files, monkeypatch):
    files(a=SMALL % ("", ""))
    monkeypatch.setattr("torr.grpc.proto_files.find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="grpcio-tools") as error:
        read_proto_files(["a.proto"])
    assert error.value.hint == "pip install 'torr[grpc]'"
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
    with pytest.raises(UsageError, match="--grpc needs the protobuf library"):
        read_proto_files(["a.proto"])


def test_protoc_that_fails_without_a_line_is_quoted(files, monkeypatch):
    files(a=SMALL % ("", ""))
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(UsageError, match="protoc failed"):
        read_proto_files(["a.proto"])


def file_of(name, *imports):
    return FileDescriptorProto(name=name, package=name[0], syntax="proto3", dependency=imports)


def test_a_descriptor_set_is_read_in_any_order(tmp_path):
    first = file_of("a.proto", "b.proto", "google/protobuf/timestamp.proto")
    first.service.add(name="S").method.add(name="Call", input_type=".b.M", output_type=".b.M")
    second = file_of("b.proto")
    second.message_type.add(name="M")
    path = tmp_path / "set.bin"
    path.write_bytes(FileDescriptorSet(file=[first, second]).SerializeToString())
    assert read_descriptor_set(path).method("a.S/Call").request.full_name == "b.M"


def test_a_descriptor_set_without_its_imports_is_refused():
    with pytest.raises(
        UsageError, match=r"x: a\.proto imports b\.proto, which is missing"
    ) as error:
        schema_of("x", [file_of("a.proto", "b.proto")])
    assert "--include_imports" in error.value.hint
    assert known_file("google/protobuf/no_such.proto") is None


def test_a_descriptor_that_contradicts_itself_is_refused():
    broken = file_of("a.proto")
    broken.message_type.add(name="M")
    broken.message_type.add(name="M")
    with pytest.raises(UsageError, match=r"x: a\.proto is not a valid file"):
        schema_of("x", [broken])


@pytest.mark.parametrize("content", [b"syntax = proto3;", b""])
def test_other_files_are_no_descriptor_sets(tmp_path, content):
    path = tmp_path / "a.proto"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a descriptor set") as error:
        read_descriptor_set(path)
    assert "buf build" in error.value.hint
    with pytest.raises(UsageError, match="No such file"):
        read_descriptor_set(tmp_path / "none")
