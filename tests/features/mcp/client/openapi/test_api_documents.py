"""What models are told of the operations of an OpenAPI document, and what is refused of one."""

import json
from typing import Any

import pytest

from features.mcp.client.openapi.api_document import DocumentRefused, read_document
from features.mcp.client.openapi.api_operations import Base, read_operations

pytestmark = pytest.mark.pure

BASE = Base("", "https://tides.example.com/v1/openapi.json")
OK = {"responses": {"200": {"description": "OK"}}}


def document(paths: dict[str, Any], version: str = "3.1.0", **members: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Tides", "version": "1"}, "paths": paths, **members}


def operations(paths: dict[str, Any], base: Base = BASE, **members: Any) -> dict[str, dict[str, Any]]:
    read = read_operations(read_document(json.dumps(document(paths, **members))), base)
    return {one["tool"]: one for one in read.tools}


def body(schema: Any, **members: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, **members}, **OK}


def parameter(where: str, name: str, **members: Any) -> dict[str, Any]:
    return {"in": where, "name": name, "schema": {"type": "string"}, **members}


def test_an_operation_is_a_tool_of_its_name_with_its_parameters_and_its_body() -> None:
    port = parameter("path", "port", required=True, description="Its code.")
    post = {"operationId": "addTide", "summary": "Adds a tide.", "description": "For staff."}
    height = {"type": "object", "properties": {"height": {"type": "number"}}, "required": ["height"]}
    found = operations({
        "/ports/{port}/tides": {
            "parameters": [port],
            "get": {"parameters": [parameter("query", "filter[day]"), parameter("header", "X-Trace")], **OK},
            "post": {**post, **body(height, required=True)},
        }
    })  # fmt: skip
    reading, adding = found["get_ports_port_tides"], found["addTide"]
    assert reading["description"] == "GET /ports/{port}/tides"
    assert list(reading["parameters"]["properties"]) == ["port", "filter_day_", "X-Trace"]
    assert reading["parameters"]["properties"]["port"] == {"type": "string", "description": "Its code."}
    assert reading["parameters"]["required"] == ["port"]
    assert adding["description"] == "Adds a tide.\n\nFor staff."
    assert adding["parameters"]["properties"]["body"] == height
    assert adding["parameters"]["required"] == ["port", "body"]
    assert adding["operation"]["url"] == "https://tides.example.com/ports/{port}/tides"


def test_a_body_is_json_where_the_server_takes_it_and_else_a_form() -> None:
    media = {
        "schema": {"type": "object"},
        "encoding": {"meta": {"style": "deepObject", "explode": True}, "x": {}},
    }
    both = {"application/x-www-form-urlencoded": media, "application/json": {"schema": {"type": "object"}}}
    form = {"application/x-www-form-urlencoded": media, "text/plain": {}}
    found = operations({
        "/both": {"post": {"requestBody": {"content": both}, **OK}},
        "/form": {"post": {"requestBody": {"content": form, "required": True}, **OK}},
        "/file": {"post": {"requestBody": {"content": {"multipart/form-data": media}, "required": True}, **OK}},
    })  # fmt: skip
    assert list(found) == ["post_both", "post_form"]
    both_ways, as_form = (found[name]["operation"] for name in ("post_both", "post_form"))
    assert (both_ways["content_type"], both_ways["fields"]) == ("application/json", [])
    assert as_form["content_type"] == "application/x-www-form-urlencoded"
    assert as_form["fields"] == [["meta", "deepObject", True]]
    assert found["post_form"]["parameters"]["required"] == ["body"]


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("get", (True, False, True)),
        ("head", (True, False, True)),
        ("post", (False, True, False)),
        ("patch", (False, True, False)),
        ("put", (False, True, True)),
        ("delete", (False, True, True)),
    ],
)
def test_the_method_says_whether_a_call_changes_something(
    method: str, hints: tuple[bool, bool, bool]
) -> None:
    [tool] = operations({"/tides": {method: OK}}).values()
    assert (tool["read_only"], tool["destructive"], tool["idempotent"]) == hints


def test_references_are_followed_and_a_schema_that_contains_itself_is_told_once() -> None:
    schemas = {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
            },
        },
        "a/b": {"$ref": "#/components/schemas/Node"},
        "Loop": {"$ref": "#/components/schemas/Loop"},
    }
    components = {"schemas": schemas, "parameters": {"Id": parameter("query", "id")}}
    found = operations(
        {
            "/node": {
                "post": {
                    "operationId": "add",
                    "parameters": [{"$ref": "#/components/parameters/Id"}],
                    **body({"$ref": "#/components/schemas/a~1b"}),
                }
            },
            "/loop": {"post": {"operationId": "loop", **body({"$ref": "#/components/schemas/Loop"})}},
        },
        components=components,
    )
    properties = found["add"]["parameters"]["properties"]
    again = {"type": "object", "description": "Another Node, as above."}
    children = {"type": "array", "items": again}
    assert properties["body"]["properties"] == {"name": {"type": "string"}, "children": children}
    assert "id" in properties
    assert found["loop"]["parameters"]["properties"]["body"] == {"description": "Another Loop, as above."}
    assert "$ref" not in json.dumps(found)


def test_a_schema_of_openapi_3_0_becomes_one_of_json_schema() -> None:
    old = {
        "type": "object",
        "required": ["id", "height"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "height": {"type": "number", "nullable": True, "minimum": 0, "exclusiveMinimum": True},
        },
        "xml": {"name": "tide"},
        "example": {"height": 1},
    }
    [tool] = operations({"/tides": {"post": body(old)}}, version="3.0.3").values()
    assert tool["parameters"]["properties"]["body"] == {
        "type": "object",
        "required": ["height"],
        "properties": {"height": {"type": ["number", "null"], "exclusiveMinimum": 0}},
    }


@pytest.mark.slow
def test_a_schema_that_is_too_large_is_told_less_deep() -> None:
    def tree(depth: int) -> dict[str, Any]:
        inner = tree(depth - 1) if depth else {"type": "string"}
        return {"type": "object", "properties": {f"p{number}": inner for number in range(8)}}

    [tool] = operations({"/tides": {"post": body(tree(5))}}).values()
    assert len(json.dumps(tool["parameters"])) < 32_000
    assert (
        tool["parameters"]["properties"]["body"]["properties"]["p0"]["properties"]["p7"]["type"] == "object"
    )


def test_what_a_document_makes_of_few_lines_ends() -> None:
    """References that double at each level, and values of YAML that do."""
    schemas: dict[str, Any] = {"s0": {"type": "string"}}
    for level in range(1, 60):
        one = {"$ref": f"#/components/schemas/s{level - 1}"}
        schemas[f"s{level}"] = {"anyOf": [one, one], "properties": {"a": one, "b": one}}
    lines = [
        "openapi: 3.1.0",
        "x0: &x0 [1, 2]",
        *(f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}]" for n in range(1, 60)),
    ]
    yaml = "\n".join([
        *lines, "paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {default: *x59}}}}},",
        "  get: {operationId: b}}}",
    ])  # fmt: skip
    for level in range(1, 5_000):
        schemas[f"c{level}"] = {"$ref": f"#/components/schemas/c{level + 1}"}
    paths = {
        "/tides": {"post": body({"$ref": "#/components/schemas/s59"})},
        "/chain": {"post": body({"$ref": "#/components/schemas/c1"})},
    }
    found = operations(paths, components={"schemas": schemas})
    assert set(found) == {"post_tides"}
    assert len(json.dumps(found)) < 100_000
    assert [one["tool"] for one in read_operations(read_document(yaml), BASE).tools] == ["b"]


def test_a_document_in_yaml_keeps_its_texts() -> None:
    text = """
openapi: 3.0.3
paths:
  /tides:
    get:
      parameters:
        - {in: query, name: country, schema: {type: string, enum: [no, de, 2026-01-01]}}
      responses:
        200: {description: OK}
"""
    [tool] = read_operations(read_document(text), BASE).tools
    assert tool["parameters"]["properties"]["country"]["enum"] == ["no", "de", "2026-01-01"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"swagger": "2.0", "paths": {}}', "Swagger 2.0; OpenAPI 3.0 or later is needed"),
        ("swagger: '2.0'", "Swagger 2.0"),
        ("<html>", "no OpenAPI document"),
        ("", "no OpenAPI document"),
        ("{", "neither JSON nor YAML"),
        ("a: b: c", r"neither JSON nor YAML \(line 1\)"),
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("openapi: 3.0.0\na: !!python/object/apply:os.system [id]", "neither JSON nor YAML"),
        (
            "openapi: 3.0.0\nm0: &m0 {a: 1}\n"
            + "".join(f"m{n}: &m{n}\n  <<: [{', '.join([f'*m{n - 1}'] * 9)}]\n" for n in range(1, 12)),
            "too large",
        ),
    ],
)
def test_what_is_no_document_is_refused_in_a_sentence(text: str | bytes, says: str) -> None:
    with pytest.raises(DocumentRefused, match=says):
        read_document(text)


@pytest.mark.parametrize(
    ("paths", "members"),
    [
        ({}, {}),
        ({"/a": {"get": {"parameters": [parameter("cookie", "id", required=True)]}}}, {}),
        ({"/a/{id}": {"get": OK}}, {}),
        ({"/a/{id}": {"get": {"parameters": [parameter("path", "id", style="matrix", required=True)]}}}, {}),
        ({"/a": {"post": {"requestBody": {"required": True, "content": {"text/xml": {}}}}}}, {}),
        ({"a": {"get": OK}, "/b": 5, "/c": {"get": []}, "/d": {"$ref": "https://example.com/"}}, {}),
    ],
    ids=["no paths", "a cookie", "a path without its parameter", "a style of a path", "XML", "malformed"],
)
def test_operations_that_cannot_be_called_are_left_out(paths: dict[str, Any], members: Any) -> None:
    with pytest.raises(DocumentRefused, match="no operation that can be called"):
        operations(paths, **members)
    assert set(operations({**paths, "/good": {"get": OK}}, **members)) == {"get_good"}


@pytest.mark.parametrize(
    ("base", "members", "url"),
    [
        (BASE, {}, "https://tides.example.com/tides"),
        (BASE, {"servers": [{"url": "/v2/"}]}, "https://tides.example.com/v2/tides"),
        (BASE, {"servers": [{"url": "api"}]}, "https://tides.example.com/v1/api/tides"),
        (BASE, {"servers": [{"url": "https://api.example.com"}]}, "https://api.example.com/tides"),
        (Base("https://own.example.com/x?a=b", ""), {}, "https://own.example.com/x/tides"),
        (
            BASE,
            {"servers": [{"url": "https://{at}.example.com", "variables": {"at": {"default": "eu"}}}]},
            "https://eu.example.com/tides",
        ),
        (
            Base("https://own.example.com/x/", ""),
            {"servers": [{"url": "/v2"}]},
            "https://own.example.com/x/tides",
        ),
    ],
)
def test_where_the_operations_are(base: Base, members: Any, url: str) -> None:
    [tool] = operations({"/tides": {"get": OK}}, base, **members).values()
    assert tool["operation"]["url"] == url


def test_a_pasted_document_that_does_not_say_where_its_operations_are_is_refused() -> None:
    with pytest.raises(DocumentRefused, match="base_url"):
        operations({"/tides": {"get": OK}}, Base("", ""), servers=[{"url": "/v2"}])


def test_of_a_long_document_those_that_are_chosen_come_first() -> None:
    paths = {f"/p{number}": {"get": {"operationId": f"op{number}", **OK}} for number in range(700)}
    read = read_operations(read_document(json.dumps(document(paths))), BASE, chosen=["op699"]).tools
    assert len(read) == 500
    assert read[0]["tool"] == "op699"


@pytest.mark.slow
def test_reading_ends_where_many_schemas_are_too_large() -> None:
    large = body({"enum": list(range(5_000))})
    paths = {**{f"/p{number}": {"post": large} for number in range(100)}, "/good": {"get": OK}}
    read = read_document(json.dumps(document(paths)))
    with pytest.raises(DocumentRefused):
        read_operations(read, BASE)
    assert [one["tool"] for one in read_operations(read, BASE, chosen=["get_good"]).tools] == ["get_good"]


def test_what_headers_of_the_row_say_is_not_asked_of_the_model() -> None:
    declared = [parameter("header", "X-API-Key", required=True), parameter("header", "Authorization")]
    text = json.dumps(document({"/a": {"get": {"parameters": declared}}}))
    [tool] = read_operations(read_document(text), BASE, own={("header", "x-api-key")}).tools
    assert tool["parameters"]["properties"] == {}
