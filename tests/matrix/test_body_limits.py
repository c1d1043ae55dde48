"""A body that is a little too long is refused with the documented code, and changes nothing."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from tests.instance import ROOT
from tests.matrix.belongings import Belongings, written_rows
from tests.matrix.operations import BEARER, OWN, Operation, operations
from tests.matrix.subjects import Identity, bearer_headers
from web.rest import request_bodies
from web.rest.request_bodies import ANONYMOUS_BYTES, RequestBodies

JSON, MULTIPART, BINARY = "application/json", "multipart/form-data", "application/octet-stream"
MEBIBYTE = 1024 * 1024
CHUNK = b" " * 64 * 1024
NGINX = (ROOT / "docs" / "proxies" / "nginx.conf").read_text(encoding="utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def each_operation(*, with_body: bool) -> list[Any]:
    """with_body: of JSON; tests/features/files/test_uploads.py is about forms with files."""
    chosen = [
        one
        for one in operations()
        if not one.is_safe
        and (not with_body or (one.body_schema is not None and not (one.is_form or one.is_binary)))
    ]
    return [pytest.param(one, id=f"{one.method} {one.path}") for one in chosen]


def limit_of(operation: Operation) -> int:
    """As the parser of the route has it."""
    return int(parser_of(operation).max_bytes)


def parser_of(operation: Operation) -> Any:
    """Of forms, of bytes, or else of JSON: other types have tests of their own."""
    accepted = MULTIPART if operation.is_form else BINARY if operation.is_binary else JSON
    return next(one for one in operation.view.parser_classes if one.media_type == accepted)


class Application:
    """Counts the bytes that reach it."""

    def __init__(self) -> None:
        self.received = 0
        self.is_cut_off = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            self.is_cut_off = message["type"] == "http.disconnect"
            self.received += len(message.get("body", b""))
            more = bool(message.get("more_body")) and not self.is_cut_off


def post(operation: Operation, length: int, *, is_named: bool, is_declared: bool) -> tuple[Application, Any]:
    """Send a body of so many bytes through the product's middleware; the second: its response, if it answers itself."""
    headers = [(b"content-type", parser_of(operation).media_type.encode())]
    headers += [(b"authorization", b"Token x")] * is_named
    headers.append(
        (b"content-length", str(length).encode()) if is_declared else (b"transfer-encoding", b"chunked")
    )
    sizes = [len(CHUNK)] * (length // len(CHUNK)) + [length % len(CHUNK)]
    chunks = iter([(CHUNK[:size], index < len(sizes) - 1) for index, size in enumerate(sizes)])
    sent: list[Any] = []

    async def receive() -> Any:
        body, more = next(chunks, (b"", False))
        return {"type": "http.request", "body": body, "more_body": more}

    async def send(message: Any) -> None:
        sent.append(message)

    application = Application()
    scope = {
        "type": "http", "method": operation.method.upper(), "path": plain(operation.path), "headers": headers
    }  # fmt: skip
    asyncio.run(RequestBodies(application)(scope, receive, send))
    return application, sent


def test_every_route_has_the_limit_of_its_parser_before_django_reads_it() -> None:
    found, expected = {}, {}
    for operation in (one.values[0] for one in each_operation(with_body=False)):
        headers = {b"content-type": parser_of(operation).media_type.encode()}
        for named, limit in (({b"authorization": b"Token x"}, limit_of(operation)), ({}, ANONYMOUS_BYTES)):
            key = operation.method, operation.path, bool(named)
            found[key] = request_bodies.limit_of(plain(operation.path), {**headers, **named}).max_bytes
            expected[key] = limit
    assert found == expected


def plain(path: str) -> str:
    return path.replace("{", "").replace("}", "")


def one_of_each_kind() -> list[Any]:
    """The first route with a body of JSON, of bytes and of a form."""
    by_type = {parser_of(one.values[0]).media_type: one for one in reversed(each_operation(with_body=False))}
    assert set(by_type) == {JSON, BINARY, MULTIPART}
    return list(by_type.values())


@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "chunked"])
@pytest.mark.parametrize("is_named", [True, False], ids=["token", "anonymous"])
@pytest.mark.parametrize("operation", one_of_each_kind())
def test_a_body_has_the_limit_of_its_route_before_django_reads_it(
    operation: Operation, is_named: bool, is_declared: bool
) -> None:
    limit = limit_of(operation) if is_named else ANONYMOUS_BYTES
    passed, sent = post(operation, limit, is_named=is_named, is_declared=is_declared)
    assert (passed.received, passed.is_cut_off, sent) == (limit, False, [])
    refused, sent = post(operation, limit + 1, is_named=is_named, is_declared=is_declared)
    assert refused.is_cut_off
    assert sent[0]["status"] == 413
    body = json.loads(sent[1]["body"])
    own = ("file_too_large", settings.MAX_FILE_BYTES) if operation.is_form and is_named else None
    assert (body["code"], body["limit"]) == (own or ("body_too_large", limit))


@pytest.mark.parametrize("operation", each_operation(with_body=True))
def test_the_parser_of_each_route_has_the_limits_too(
    owned: Belongings, identities: dict[str, Identity], operation: Operation
) -> None:
    """Bytes, and values; for somebody who is served."""
    parser = parser_of(operation)
    values = b'{"x":[' + b"0," * parser.max_values + b"0]}"
    for body, limit in ((b" " * (parser.max_bytes + 1), parser.max_bytes), (values, parser.max_values)):
        who = {OWN: "owner, cookie", BEARER: "owner, token"}.get(operation.access, "superuser, cookie")
        client, before = identities[who].client(), written_rows()
        response = client.generic(
            operation.method.upper(),
            operation.address(owned.ids),
            body,
            content_type="application/json",
            headers=bearer_headers(client) if operation.access == BEARER else {},
        )
        assert response.status_code == 413
        if operation.access == BEARER:
            assert response.json()["error"]["code"] == "body_too_large"
        else:
            assert (response.json()["code"], response.json()["limit"]) == ("body_too_large", limit)
        assert written_rows() == before


@pytest.mark.parametrize(
    ("content_type", "limit"),
    [
        ("application/json; charset=utf-8", 32 * MEBIBYTE),
        ("Application/Zip", settings.MAX_IMPORT_BYTES),
        ("text/plain", settings.MAX_IMPORT_BYTES),
    ],
)
def test_a_route_of_several_types_has_the_limit_of_each(content_type: str, limit: int) -> None:
    """A type that nothing accepts is refused once it is read."""
    headers = {b"authorization": b"Token x", b"content-type": content_type.encode()}
    assert request_bodies.limit_of("/api/sessions/import/", headers).max_bytes == limit


def mebibytes_of_the_documented_proxy(path: str) -> int:
    """As nginx chooses a location: the exact path, a regular expression, the longest prefix; else the limit of the server."""
    matches: dict[str, Callable[[str], bool]] = {
        "=": path.__eq__, "~": lambda given: bool(re.search(given, path)), "": path.startswith
    }  # fmt: skip
    locations = re.findall(r"location (?:([=~]) )?(\S+) \{ (.*) \}", NGINX)
    chosen = [(kind, len(given), block) for kind, given, block in locations if matches[kind](given)]
    block = max(chosen, key=lambda one: ("~=".find(one[0]) if one[0] else -1, one[1]))[2]
    found = re.search(r"client_max_body_size (\d+)m", block) or re.search(
        r"client_max_body_size (\d+)m", NGINX
    )
    assert found
    return int(found[1])


@pytest.mark.parametrize("operation", each_operation(with_body=False))
def test_the_documented_proxy_lets_pass_what_a_route_takes(operation: Operation) -> None:
    """Without more room than it needs, but for rounding up."""
    limit = max(int(getattr(one, "max_bytes", 0)) for one in operation.view.parser_classes)
    if operation.path.startswith("/api/sessions/import/"):
        limit = settings.MAX_IMPORT_BYTES
    needed = max(8, -(-limit // MEBIBYTE))
    assert mebibytes_of_the_documented_proxy(plain(operation.path)) == needed


def test_the_limits_are_documented() -> None:
    limits = {limit_of(one.values[0]) for one in each_operation(with_body=False)}
    limits.add(settings.MAX_IMPORT_BYTES)
    row = next(line for line in SECURITY.splitlines() if "fills memory or disk" in line)
    assert {f"{limit // MEBIBYTE} MiB" in row for limit in limits} == {True}
    assert f"bodies {ANONYMOUS_BYTES // 1024} KiB without a session or token" in row
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == 2_621_440
    assert "forms 2.5 MB" in row
