"""Requests of an OpenAPI document, 3.0, 3.1 or Swagger 2.0, in JSON or YAML.

Values come from examples, then defaults, then schemas. No value of a secret is read, and no
reference to another document is followed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.secret_names import REDACTED, is_secret, is_secret_value
from torr.model.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.json import JsonObject

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
SAFE = ("get", "head")
FORM = "application/x-www-form-urlencoded"
MOST_DEPTH = 16
_FORMATS = {
    "uuid": "00000000-0000-4000-8000-000000000000",
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "ann@example.com",
    "uri": "http://example.com/",
    "ipv4": "127.0.0.1",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as a request; one that cannot be written has a reason."""

    name: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    reason: str | None = None


class _NoValueError(Exception):
    """No value can be made; the text is the reason."""


def parse_document(text: str) -> JsonObject:
    """Return the document of a text in JSON or YAML; raise UsageError."""
    try:
        document = json.loads(text)
    except ValueError:
        document = _yaml(text)
    require(
        isinstance(document, dict) and isinstance(document.get("paths"), dict),
        say("this is not an OpenAPI document: it has no paths"),
    )
    found: JsonObject = document
    return found


def _yaml(text: str) -> object:
    # Imported here: only documents in YAML need it.
    import yaml  # type: ignore[import-untyped]

    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise UsageError(say("the document is neither JSON nor YAML: {e}", e=problem)) from error


def server_of(document: JsonObject, location: str) -> str:
    """Return the URL of the first server, without user and password; relative to `location`."""
    if "swagger" in document:
        scheme = (document.get("schemes") or ["http"])[0]
        host = document.get("host")
        url = f"{scheme}://{host}" if host else ""
        url += str(document.get("basePath") or "")
    else:
        server = (document.get("servers") or [{}])[0]
        url = str(server.get("url") or "")
        for name, variable in (server.get("variables") or {}).items():
            url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
    parts = urlsplit(urljoin(location, url or "/"))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def operations(document: JsonObject, *, all_methods: bool) -> Iterator[Operation]:
    """Yield every operation of a document in its order."""
    reader = _Reader(document)
    for path, item in document["paths"].items():
        for method in METHODS:
            item_here = item if isinstance(item, dict) else {}
            if isinstance(operation := item_here.get(method), dict):
                yield reader.operation(path, method, item_here, operation, all_methods)


@dataclass(slots=True)
class _Reader:
    document: JsonObject
    names: set[str] = field(default_factory=set)

    def operation(
        self, path: str, method: str, item: JsonObject, spec: JsonObject, all_methods: bool
    ) -> Operation:
        name = self._name(str(spec.get("operationId") or f"{method} {path}"))
        try:
            if method not in SAFE and not all_methods:
                raise _NoValueError("may change data: add --all-methods to include it")
            return self._request(name, path, method, item, spec)
        except _NoValueError as error:
            return Operation(name, method.upper(), path, reason=str(error))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"the document is not valid here ({type(error).__name__})"
            return Operation(name, method.upper(), path, reason=reason)
        except UsageError as error:
            return Operation(name, method.upper(), path, reason=str(error.message))

    def _request(
        self, name: str, path: str, method: str, item: JsonObject, spec: JsonObject
    ) -> Operation:
        listed = [self.resolved(x) for key in (item, spec) for x in key.get("parameters") or []]
        parameters = {(x["in"], x["name"]): x for x in listed}  # an operation's own come last
        target, query, headers = path, [], []
        for (place, key), parameter in parameters.items():
            if place not in ("path", "query", "header"):
                if place == "cookie" and parameter.get("required"):
                    raise _NoValueError(f"the cookie {key!r} is required")
                continue
            if place != "path" and not parameter.get("required") and not _has_example(parameter):
                continue
            value = self._parameter(key, parameter)
            if is_secret_value(key, _text(value)):
                if parameter.get("required"):
                    raise _NoValueError(f"the parameter {key!r} is a secret")
                continue
            if place == "path":
                target = target.replace(f"{{{key}}}", quote(_text(value), safe=""))
            elif place == "query":
                several = value if isinstance(value, list) else [value]
                query += [(key, _text(one)) for one in several]
            else:
                headers.append((key.lower(), _text(value)))
        if missing := re.findall(r"{([^{}]*)}", target):
            raise _NoValueError(f"the path parameter {missing[0]!r} is not defined")
        kind, body = self._body(spec, [x for x in listed if x["in"] in ("body", "formData")])
        if kind is not None:
            headers.append(("content-type", kind))
        target += f"?{urlencode(query)}" if query else ""
        written = "".join([target, body or "", *(text for _, text in headers)])
        if "{{" in written or "}}" in target:
            raise _NoValueError("a value contains {{, which begins a template")
        Url.parse(f"http://localhost{target}")
        return Operation(name, method.upper(), target, tuple(headers), body)

    def _parameter(self, name: str, parameter: JsonObject) -> Any:  # noqa: ANN401
        try:
            value = self.sample({**parameter, **_media(parameter)})
        except _NoValueError as error:
            raise _NoValueError(f"the parameter {name!r} has no example: {error}") from error
        if isinstance(value, dict) or value in ("", None):
            raise _NoValueError(f"the parameter {name!r} is not a plain value")
        return value

    def _body(self, spec: JsonObject, old: list[JsonObject]) -> tuple[str | None, str | None]:
        """Return the media type and the text of the body, in JSON or as a form."""
        body = self.resolved(spec.get("requestBody") or {})
        content = body.get("content") or {}
        if fields := [x for x in old if x["in"] == "formData"]:
            content = {self._form_of(spec): _schema_of(fields)}
        elif old:
            content = {"application/json": old[0]}
        kind = next((x for x in content if re.search(r"[/+]json\b", x)), None)
        if kind is not None:
            value = _without_secrets(self.sample(content[kind]))
            return kind, json.dumps(value, ensure_ascii=False)
        if FORM in content:
            form = _without_secrets(self.sample(content[FORM]))
            return FORM, urlencode({name: _text(value) for name, value in form.items()})
        if content and (body.get("required") or old):
            raise _NoValueError(f"the body is {next(iter(content))}, neither JSON nor a form")
        return None, None

    def _form_of(self, spec: JsonObject) -> str:
        kinds = spec.get("consumes") or self.document.get("consumes") or [FORM]
        return FORM if FORM in kinds else str(kinds[0])

    def sample(self, place: Any, depth: int = 0) -> Any:  # noqa: ANN401
        """Return a value for a parameter, a media type or a schema."""
        if depth > MOST_DEPTH:
            raise _NoValueError("its schema contains itself")
        spec = self.resolved(place)
        examples = spec.get("examples")
        if isinstance(examples, dict) and examples:
            examples = [self.resolved(next(iter(examples.values()))).get("value")]
        for value in (spec.get("example"), *(examples or [])[:1]):
            if value is not None:
                return value
        for key in ("default", "const"):
            if spec.get(key) is not None:
                return spec[key]
        if spec.get("enum"):
            return spec["enum"][0]
        if "schema" in spec:
            return self.sample(spec["schema"], depth + 1)
        return self._of_type(spec, depth)

    def _of_type(self, spec: JsonObject, depth: int) -> Any:  # noqa: ANN401, PLR0911
        for key in ("oneOf", "anyOf"):
            if spec.get(key):
                return self.sample(spec[key][0], depth + 1)
        kinds = spec.get("type")
        kind = next((x for x in kinds if x != "null"), None) if isinstance(kinds, list) else kinds
        if kind == "object" or "properties" in spec or "allOf" in spec:
            parts = [self.sample(part, depth + 1) for part in spec.get("allOf") or []]
            if parts and not all(isinstance(part, dict) for part in parts):
                return parts[0]
            own = spec.get("properties") or {}
            needed = [name for name in spec.get("required") or [] if name in own]
            values = {name: self.sample(own[name], depth + 1) for name in needed}
            return {key: value for part in [*parts, values] for key, value in part.items()}
        if kind == "array":
            return [self.sample(spec.get("items") or {}, depth + 1)]
        if kind in ("integer", "number"):
            least = spec.get("minimum")
            return 1 if least is None or least <= 1 <= spec.get("maximum", 1) else least
        if kind == "boolean":
            return True
        if kind != "string":
            raise _NoValueError("its type is unknown")
        if spec.get("pattern"):
            raise _NoValueError("it must match a pattern")
        return _FORMATS.get(spec.get("format", ""), "text".ljust(spec.get("minLength", 0), "x"))

    def resolved(self, place: Any, depth: int = 0) -> JsonObject:  # noqa: ANN401
        """Return an object, or the object that its reference names."""
        if not isinstance(place, dict):
            raise _NoValueError("the document is not valid here")
        if not isinstance(reference := place.get("$ref"), str):
            return place
        if depth > MOST_DEPTH or not reference.startswith("#/"):
            raise _NoValueError(f"torr does not follow the reference {reference!r}")
        target: Any = self.document
        for part in reference[2:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or name not in target:
                raise _NoValueError(f"the reference {reference!r} has no target")
            target = target[name]
        return self.resolved(target, depth + 1)

    def _name(self, text: str) -> str:
        base = re.sub(r"[^\w.-]+", "-", text).strip("-") or "request"
        name, number = base, 2
        while name in self.names:
            name, number = f"{base}-{number}", number + 1
        self.names.add(name)
        return name


def _media(parameter: JsonObject) -> JsonObject:
    content = parameter.get("content") or {}
    return next(iter(content.values())) if content else {}


def _schema_of(fields: list[JsonObject]) -> JsonObject:
    """Return the form fields of Swagger 2.0 as the schema that OpenAPI 3 has for them."""
    needed = [field["name"] for field in fields if field.get("required")]
    return {
        "type": "object",
        "required": needed,
        "properties": {field["name"]: field for field in fields},
    }


def _has_example(parameter: JsonObject) -> bool:
    return "example" in parameter or bool(parameter.get("examples"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _without_secrets(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return [_without_secrets(x) for x in value]
    if not isinstance(value, dict):
        return value if isinstance(value, str | int | float | bool | None) else str(value)
    return {
        str(k): REDACTED if isinstance(v, str) and is_secret(str(k)) else _without_secrets(v)
        for k, v in value.items()
    }
