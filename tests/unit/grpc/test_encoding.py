"""Messages from JSON: their parts, joined with values, are the bytes that protobuf writes."""

from __future__ import annotations

import json
import re
import struct

import pytest
from google.protobuf.message_factory import GetMessageClass

from torr.errors import UsageError
from torr.grpc.encoding import constant_bytes, encode_messages
from torr.model.grpc import BytesPart, NestedPart, NumberPart, TextPart

FIXED = {
    "fixed32": "<I",
    "sfixed32": "<i",
    "fixed64": "<Q",
    "sfixed64": "<q",
    "float": "<f",
    "double": "<d",
}
PLACE = re.compile(r"\{\{(.*?)\}\}")


def varint(number):
    written = []
    while number > 127:
        written.append(number % 128 + 128)
        number //= 128
    return bytes([*written, number])


def number_bytes(text, kind):
    if kind in FIXED:
        value = float(text) if kind in ("float", "double") else int(text)
        return struct.pack(FIXED[kind], value)
    if kind == "bool":
        return varint(text == "true")
    number = int(text)
    if kind in ("sint32", "sint64"):
        number = 2 * number if number >= 0 else -2 * number - 1
    return varint(number % 2**64)


def joined(parts, values):
    """Return the bytes of parts as the engine has to write them."""

    def fill(text):
        return PLACE.sub(lambda match: values[match[1].strip()], text)

    written = b""
    for part in parts:
        if isinstance(part, BytesPart):
            written += part.base64
        elif isinstance(part, TextPart):
            written += fill(part.text).encode()
        elif isinstance(part, NumberPart):
            written += number_bytes(fill(part.text), part.kind)
        else:
            inner = joined(part.parts, values)
            written += varint(len(inner)) + inner
    return written


def encoded(method, value, *, fills=True):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return encode_messages(method, text, fills=fills)


VALUES = {"seq": "300", "row.id": "-7", "row.name": "Ünal", "rand 1 9": "5", "row.yes": "true"}

CASES = [
    ({"name": "user-{{seq}}"}, {"name": "user-300"}),
    ({"name": "{{row.name}}/{{seq}}", "id": 5}, {"name": "Ünal/300", "id": 5}),
    ({"id": "{{row.id}}", "name": "a"}, {"id": -7, "name": "a"}),
    ({"i32": "{{row.id}}"}, {"i32": -7}),
    ({"u32": "{{seq}}", "u64": "{{seq}}"}, {"u32": 300, "u64": 300}),
    ({"s32": "{{row.id}}", "s64": "{{ seq }}"}, {"s32": -7, "s64": 300}),
    ({"f32": "{{seq}}", "f64": "{{seq}}"}, {"f32": 300, "f64": 300}),
    ({"sf32": "{{row.id}}", "sf64": "{{row.id}}"}, {"sf32": -7, "sf64": -7}),
    ({"single": "{{seq}}", "exact": "{{seq}}"}, {"single": 300, "exact": 300}),
    ({"color": "{{rand 1 9}}", "sold": "{{row.yes}}"}, {"color": 5, "sold": True}),
    ({"part": {"part": {"name": "{{seq}}"}}}, {"part": {"part": {"name": "300"}}}),
    ({"part": {"id": 1, "name": "{{seq}}"}, "id": 2}, {"part": {"id": 1, "name": "300"}, "id": 2}),
    ({"tags": ["a", "{{seq}}", ""]}, {"tags": ["a", "300", ""]}),
    ({"parts": [{}, {"name": "{{seq}}"}, {"id": 1}]}, {"parts": [{}, {"name": "300"}, {"id": 1}]}),
    ({"counts": [0, "{{row.id}}", 70000]}, {"counts": [0, -7, 70000]}),
    ({"loose": [0, "{{row.id}}", 70000]}, {"loose": [0, -7, 70000]}),
    ({"sizes": ["{{seq}}", 0.5, "Infinity"]}, {"sizes": [300, 0.5, "Infinity"]}),
    ({"prices": {"a": "{{seq}}", "b": 2}}, {"prices": {"a": 300, "b": 2}}),
    ({"byId": {"4": {"name": "{{seq}}"}}}, {"byId": {"4": {"name": "300"}}}),
    ({"flags": {"true": "x{{seq}}"}}, {"flags": {"true": "x300"}}),
    ({"note": "{{seq}}", "metres": 2}, {"note": "300", "metres": 2}),
    ({"label": "{{seq}}", "metres": None}, {"label": "300"}),
    ({"owner": "{{row.name}}", "stock": "{{seq}}"}, {"owner": "Ünal", "stock": 300}),
    (
        {"by_id": {}, "at": "2020-01-01T00:00:00Z", "more": {"a": [1]}, "name": "{{seq}}"},
        {"at": "2020-01-01T00:00:00Z", "more": {"a": [1]}, "name": "300"},
    ),
    ({"raw": "AAEC", "times": {"a": "2020-01-01T00:00:00Z"}, "id": "{{seq}}"}, None),
]


@pytest.mark.parametrize(("value", "filled"), CASES, ids=range(len(CASES)))
def test_joined_parts_are_what_protobuf_writes(method, written, value, filled):
    add = method("shop.Cart/Add")
    filled = filled or {**value, "id": 300}
    (parts,) = encoded(add, value)
    assert constant_bytes(parts) is None
    assert joined(parts, VALUES) == written(add.request, filled)


def test_a_field_with_a_template_is_written_also_if_it_is_the_default(method):
    add = method("shop.Cart/Add")
    (parts,) = encoded(add, {"id": "{{seq}}"})
    assert parts == (BytesPart(b"\x10"), NumberPart("{{seq}}", "int64"))
    assert GetMessageClass(add.request).FromString(joined(parts, {"seq": "0"})).id == 0


def test_numbers_of_32_bits_are_told_apart_from_longer_ones(method):
    fields = ("i32", "u32", "s32", "color", "id", "u64", "s64")
    (parts,) = encoded(method("shop.Cart/Add"), dict.fromkeys(fields, "{{seq}}"))
    kinds = {part.kind for part in parts if isinstance(part, NumberPart)}
    assert kinds == {"int32", "uint32", "sint32", "int64", "uint64", "sint64"}


def test_parts_nest_as_messages_do(method):
    (parts,) = encoded(method("shop.Cart/Add"), {"part": {"id": 1, "name": "n{{seq}}"}})
    name = (BytesPart(b"\x0a"), NestedPart((TextPart("n{{seq}}"),)), BytesPart(b"\x10\x01"))
    assert parts == (BytesPart(b"\x22"), NestedPart(name))


def test_a_message_without_templates_is_one_part_of_bytes(method, written):
    add = method("shop.Cart/Add")
    value = {"name": "ann", "part": {"tags": ["a"]}, "prices": {"b": 1, "a": 2}}
    (parts,) = encoded(add, value)
    assert parts == (BytesPart(written(add.request, value)),)
    assert encoded(add, b"") == encoded(add, {}) == [()]
    assert constant_bytes(()) == b""


def test_braces_are_text_if_templates_are_not_filled(method, written):
    add = method("shop.Cart/Add")
    value = {"name": "{{seq}} {{"}
    (parts,) = encoded(add, value, fills=False)
    assert constant_bytes(parts) == written(add.request, value)


def test_braces_themselves_are_an_expression(method):
    (parts,) = encoded(method("shop.Cart/Add"), {"name": '{{"{{"}}'})
    assert parts == (BytesPart(b"\x0a"), NestedPart((TextPart('{{"{{"}}'),)))


def test_a_stream_of_requests_has_a_list_of_messages_or_one_on_each_line(method, written):
    fill = method("shop.Cart/Fill")
    names = [{"name": "a"}, {}, {"name": "b\u2028\u2029\x85c"}]
    expected = [written(fill.request, name) for name in names]
    lines = [json.dumps(name, ensure_ascii=False) for name in names]
    for text in (json.dumps(names), "\n\n".join(lines), "\r\n".join([*lines, ""])):
        assert [constant_bytes(parts) for parts in encoded(fill, text.encode())] == expected
    assert len(encoded(fill, {"name": "a"})) == 1


def test_a_method_of_a_list_takes_a_list(method):
    assert len(encoded(method("shop.Cart/Any"), [1, "a"])) == 1


def test_an_extension_and_a_proto2_list_are_written_as_protobuf_does(method, written):
    put = method("old.Store/Put")
    value = {"key": "k{{seq}}", "numbers": [1, "{{seq}}"], "[old.mark]": "m{{seq}}"}
    (parts,) = encoded(put, value)
    filled = {"key": "k300", "numbers": [1, 300], "[old.mark]": "m300"}
    assert joined(parts, VALUES) == written(put.request, filled)


@pytest.mark.parametrize(
    ("value", "says", "hint"),
    [
        ({"nam": 1}, "nam: shop.Item has no such field", "did you mean name?"),
        ({"zzz": 1}, "zzz: shop.Item has no such field", "known fields: name, id, tags"),
        ({"part": {"x": "{{seq}}"}}, "part.x: shop.Item has no such field", "known fields"),
        ({"[old.none]": 1}, "[old.none]: shop.Item has no such field", "known fields"),
        ([], "shop.Cart/Add takes one message, and the body has a list", "one JSON object"),
        (7, "the message: 7 is not of type shop.Item", ""),
        ({"id": "x"}, 'id: "x" is not of type int64', ""),
        ({"part": {"parts": [{}, {"id": 1.5}]}}, "part.parts[1].id: 1.5 is not of type int64", ""),
        ({"part": 3}, "part: 3 is not of type shop.Item", ""),
        ({"tags": "a"}, 'tags: "a" is not of type repeated string', ""),
        ({"tags": ["a", 3]}, "tags[1]: 3 is not of type string", ""),
        ({"prices": [1]}, "prices: [1] is not of type map", ""),
        ({"prices": {"a": "x"}}, 'prices["a"]: "x" is not of type int32', ""),
        ({"byId": {"1": {"id": []}}}, 'byId["1"].id: [] is not of type int64', ""),
        ({"color": "BLUE"}, 'color: "BLUE" is not of type shop.Color', "NONE, RED, GREEN"),
        ({"at": "noon"}, 'at: "noon" is not of type google.protobuf.Timestamp', ""),
        ({"raw": 5}, "raw: 5 is not of type bytes", ""),
        ({"name": 40 * "long" + "'", "id": []}, "id: [] is not of type int64", ""),
        ({"name": [40 * "long"]}, "…", ""),
        ({"label": "a", "metres": 1}, "the message: Message type", ""),
        # With templates.
        ({"name": "{{seq}}", "id": "x"}, 'id: "x" is not of type int64', ""),
        ({"part": "{{seq}}"}, 'part: "{{seq}}" is not of type shop.Item', ""),
        ({"tags": "{{seq}}"}, 'tags: "{{seq}}" is not of type repeated string', ""),
        ({"prices": "{{seq}}"}, 'prices: "{{seq}}" is not of type map', ""),
        ({"id": ["{{seq}}"]}, 'id: ["{{seq}}"] is not of type int64', ""),
        ({"tags": ["{{seq}}", "b", 3]}, "tags[2]: 3 is not of type string", ""),
        ({"id": "1{{seq}}"}, "id: 1{{seq}} is not of type int64", "{{row.id}}"),
        ({"id": "{{seq}}{{seq}}"}, "is not of type int64", "write one expression alone"),
        ({"sold": "{{uuid}}"}, "sold: {{uuid}} is not of type bool", "one expression"),
        ({"color": "{{uuid}}"}, "color: {{uuid}} is not of type shop.Color", "expression"),
        ({"name": "{{"}, "name: '{{' is not an expression", "--verbatim"),
        ({"name": "{{row.a | upper}}"}, "name: {{row.a | upper}}: no filter", "url or json"),
        ({"name": "{{row.a | json}}"}, "name: the filter json does not fit", "leave out | json"),
        ({"raw": "{{seq}}"}, "raw: torr fills no templates in bytes", "without {{…}}"),
        ({"at": "{{row.a}}"}, "no templates in google.protobuf.Timestamp", "without {{…}}"),
        ({"more": {"a": "{{seq}}"}}, "more: torr fills no templates in google.protobuf.St", ""),
        ({"times": {"a": "{{seq}}"}}, 'times["a"]: torr fills no templates in google', ""),
        ({"prices": {"{{seq}}": 1}}, "no templates in the keys of a map", "without {{…}}"),
        ({"byId": {"x": {"name": "{{seq}}"}}}, 'byId: "x" is not of type int32', ""),
        ({"flags": {"x": "{{seq}}"}}, 'flags: "x" is not of type bool', ""),
        ({"label": "{{seq}}", "metres": 1}, "metres: label is given, too", "leave one out"),
        ({"byId": {}, "by_id": {}, "name": "{{seq}}"}, "by_id: byId is given, too", "leave"),
    ],
)
def test_a_message_that_is_not_one_is_refused_at_its_field(method, value, says, hint):
    with pytest.raises(UsageError) as error:
        encoded(method("shop.Cart/Add"), value)
    assert says in error.value.message
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("old.Store/Put", {}, "the message: key must be set"),
        ("old.Store/Put", {"[old.mark]": "{{seq}}"}, "the message: key must be set"),
        ("old.Store/Put", {"key": "", "pair": {"left": "{{seq}}"}}, "no templates in groups"),
        ("shop.Cart/Fill", [], "the body has no message"),
        ("shop.Cart/Fill", [{}, {"id": "x"}], '[1].id: "x" is not of type int64'),
        ("shop.Cart/Fill", b'{}\n{"id"', "line 2: not JSON"),
        ("shop.Cart/Add", b'{"id"', "the body is not the JSON of a message: not JSON"),
        ("shop.Cart/Add", b"\xff", "byte 0 is not UTF-8"),
    ],
)
def test_other_messages_that_are_refused(method, name, value, says):
    with pytest.raises(UsageError) as error:
        encoded(method(name), value)
    assert says in error.value.message


def test_a_template_without_quotes_is_explained(method):
    with pytest.raises(UsageError) as error:
        encoded(method("shop.Cart/Add"), b'{"id": {{seq}}}')
    assert error.value.hint == 'write templates in quotes, also for numbers: {"id": "{{seq}}"}'
