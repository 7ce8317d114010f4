"""Types of fields: how their numbers are written, and which messages have a JSON of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

    from torr.model.grpc import NumberKind

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""Wire types."""

BOOL, STRING, GROUP, BYTES, ENUM = 8, 9, 10, 12, 14
"""Numbers of types in descriptors, which are not numbers of the language."""

# By the number of the type in descriptors: its name, its kind of number, its wire type.
_NUMBERS: dict[int, tuple[str, NumberKind, int]] = {
    1: ("double", "double", FIXED64),
    2: ("float", "float", FIXED32),
    3: ("int64", "int64", VARINT),
    4: ("uint64", "uint64", VARINT),
    5: ("int32", "int32", VARINT),
    6: ("fixed64", "fixed64", FIXED64),
    7: ("fixed32", "fixed32", FIXED32),
    BOOL: ("bool", "bool", VARINT),
    13: ("uint32", "uint32", VARINT),
    ENUM: ("enum", "int32", VARINT),
    15: ("sfixed32", "sfixed32", FIXED32),
    16: ("sfixed64", "sfixed64", FIXED64),
    17: ("sint32", "sint32", VARINT),
    18: ("sint64", "sint64", VARINT),
}
_WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in (
        *("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"),
    )
)
_SPECIAL = frozenset(
    f"google.protobuf.{name}"
    for name in ("Any", "Duration", "FieldMask", "ListValue", "Struct", "Timestamp", "Value")
)


def number_kind(field: FieldDescriptor) -> tuple[NumberKind, int] | None:
    """Return how the number of a field is written, with its wire type; None for other types."""
    found = _NUMBERS.get(field.type)
    return None if found is None else found[1:]


def type_name(field: FieldDescriptor) -> str:
    """Return the name of the type of one value of a field."""
    if field.message_type is not None:
        return str(field.message_type.full_name)
    if field.enum_type is not None:
        return str(field.enum_type.full_name)
    return {STRING: "string", BYTES: "bytes"}.get(field.type) or _NUMBERS[field.type][0]


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map, whose entries are messages."""
    entry = field.message_type
    return bool(entry is not None and field.is_repeated and entry.GetOptions().map_entry)


def map_value(field: FieldDescriptor) -> FieldDescriptor:
    """Return the field of the values of a map."""
    entry: Any = field.message_type
    value: FieldDescriptor = entry.fields_by_name["value"]
    return value


def is_wrapper(type_: Descriptor) -> bool:
    """Return whether a message wraps one value, and is written in JSON as that value."""
    return type_.full_name in _WRAPPERS


def has_special_json(type_: Descriptor) -> bool:
    """Return whether the JSON of a message is not an object of its fields."""
    return type_.full_name in _WRAPPERS | _SPECIAL


def takes_list(type_: Descriptor) -> bool:
    """Return whether the JSON of a message may be a list."""
    return type_.full_name in ("google.protobuf.ListValue", "google.protobuf.Value")


def message_class(type_: Descriptor) -> type[Message]:
    """Return the class of messages of a type."""
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(type_)


def varint(number: int) -> bytes:
    """Return a number of at least 0 in groups of seven bits, the lowest first."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def tag(field: FieldDescriptor, wire_type: int) -> bytes:
    """Return what is written before the value of a field."""
    return varint(field.number << 3 | wire_type)


def behind_varints(data: bytes, count: int) -> bytes:
    """Return what is behind some numbers at the beginning."""
    start = 0
    for _ in range(count):
        while data[start] & 0x80:
            start += 1
        start += 1
    return data[start:]
