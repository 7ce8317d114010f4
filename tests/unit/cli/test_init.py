"""`torr init`: plan files for URLs and OpenAPI documents, and reasons for what they lack."""

from __future__ import annotations

import json
from pathlib import Path

from torr.sources.plan_file import read_plan_file

DOCUMENT = {
    "openapi": "3.1.0",
    "servers": [
        {"url": "http://ann:hush@localhost:8080/v{n}", "variables": {"n": {"default": "2"}}}
    ],
    "paths": {
        "/items/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "get": {
                "operationId": "item",
                "parameters": [
                    {"name": "tag", "in": "query", "example": "a b"},
                    {
                        "name": "x-user",
                        "in": "header",
                        "required": True,
                        "schema": {"default": "u"},
                    },
                    {"name": "unused", "in": "query", "schema": {"type": "string"}},
                ],
            },
            "put": {
                "requestBody": {
                    "content": {"application/json": {"example": {"n": 1, "password": "hush"}}}
                }
            },
        },
        "/keys": {
            "get": {
                "parameters": [
                    {"name": "api_key", "in": "query", "required": True, "example": "hush"}
                ]
            }
        },
        "/codes/{code}": {
            "get": {
                "parameters": [
                    {
                        "name": "code",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string", "pattern": "^[A-Z]$"},
                    }
                ]
            }
        },
        "/far": {"get": {"parameters": [{"$ref": "other.json#/x"}]}},
    },
    "components": {
        "parameters": {
            "id": {
                "name": "id",
                "in": "path",
                "required": True,
                "schema": {"type": "integer", "minimum": 7},
            }
        }
    },
}


def written(torr, *flags):
    Path("openapi.json").write_text(json.dumps(DOCUMENT))
    ended = torr("init", "openapi.json", *flags)
    assert ended.code == 0, ended.err
    return ended, read_plan_file(Path("plan.toml"))


def test_a_url_becomes_a_plan_with_one_request(torr):
    assert torr("init", "http://localhost:8080/a?b=1").code == 0
    plan = read_plan_file(Path("plan.toml"))
    assert (plan.url, [x.url for x in plan.requests]) == ("http://localhost:8080", ["/a?b=1"])


def test_safe_operations_become_requests_with_values(torr):
    _, plan = written(torr)
    (request,) = plan.requests
    assert (plan.url, request.name) == ("http://localhost:8080", "item")
    assert request.url == "/v2/items/7?tag=a+b"
    assert ("x-user", "u") in request.headers


def test_an_operation_that_is_left_out_has_its_reason_in_the_file_and_on_stderr(torr):
    ended, _ = written(torr)
    for reason in (
        "PUT /v2/items/{id}: may change data: add --all-methods to include it",
        "GET /v2/keys: the parameter 'api_key' is a secret",
        "GET /v2/codes/{code}: the parameter 'code' has no example: it must match a pattern",
        "GET /v2/far: torr does not follow the reference 'other.json#/x'",
    ):
        assert f"note: {reason}" in ended.err
        assert f"# {reason}" in Path("plan.toml").read_text()


def test_all_methods_writes_bodies_without_secrets(torr):
    _, plan = written(torr, "--all-methods")
    assert json.loads(plan.requests[1].body) == {"n": 1, "password": "***"}
    assert "hush" not in Path("plan.toml").read_text()


def test_swagger_2_in_yaml_is_read(torr):
    Path("api.yaml").write_text(
        "swagger: '2.0'\nhost: localhost:81\nbasePath: /b\npaths:\n  /x: {get: {}}\n"
    )
    assert torr("init", "api.yaml").code == 0
    plan = read_plan_file(Path("plan.toml"))
    assert (plan.url, plan.requests[0].url) == ("http://localhost:81", "/b/x")


def bodies_of(torr, document):
    Path("api.json").write_text(json.dumps(document))
    ended = torr("init", "api.json", "--all-methods")
    assert ended.code == 0, ended.err
    return {x.name: x for x in read_plan_file(Path("plan.toml")).requests}, ended.err


def test_a_form_is_written_with_its_required_fields(torr):
    schema = {
        "required": ["name", "n"],
        "properties": {
            "name": {"type": "string", "example": "a b&c"},
            "n": {"type": "integer"},
            "unused": {"type": "string"},
        },
    }
    form = {"application/x-www-form-urlencoded": {"schema": schema}}
    document = {"openapi": "3.0.0", "paths": {"/a": {"post": {
        "operationId": "a", "requestBody": {"content": form}}}}}  # fmt: skip
    requests, _ = bodies_of(torr, document)
    assert requests["a"].body == b"name=a+b%26c&n=1"
    assert ("content-type", "application/x-www-form-urlencoded") in requests["a"].headers


def test_a_form_of_swagger_2_is_written_unless_it_has_parts(torr):
    fields = [
        {"in": "formData", "name": "password", "type": "string", "required": True},
        {"in": "formData", "name": "n", "type": "integer", "required": True},
    ]
    parts = {"operationId": "b", "parameters": fields, "consumes": ["multipart/form-data"]}
    document = {"swagger": "2.0", "host": "localhost:81", "paths": {
        "/a": {"post": {"operationId": "a", "parameters": fields}},
        "/b": {"post": parts}}}  # fmt: skip
    requests, err = bodies_of(torr, document)
    assert requests["a"].body == b"password=%2A%2A%2A&n=1"
    assert "POST /b: the body is multipart/form-data, neither JSON nor a form" in err


def test_a_file_is_replaced_with_force_only(torr):
    Path("plan.toml").write_text("mine")
    refused = torr("init", "http://localhost:8080/")
    assert (refused.code, Path("plan.toml").read_text()) == (2, "mine")
    assert "plan.toml exists" in refused.err
    assert torr("init", "--force", "http://localhost:8080/").code == 0


def test_a_document_without_paths_is_refused(torr):
    Path("api.json").write_text("{}")
    ended = torr("init", "api.json")
    assert (ended.code, "not an OpenAPI document" in ended.err) == (2, True)
