"""What requests calls of operations become, and what models read of the answers."""

from typing import Any

import pytest

from features.mcp.client.configuration import Answer, CallFailed, CallLost
from features.mcp.client.openapi.api_operations import FORM
from features.mcp.client.openapi.operation_http import Received, build_request, read_answer

pytestmark = pytest.mark.pure

LIST, OBJECT = ["a b", 1], {"x": 1, "y": True}


def url_of(*places: tuple[str, str, str, bool], url: str = "https://t.example/p", **arguments: Any) -> str:
    """places: of arguments of the same name, where, style and explode."""
    listed = [[name, where, name, style, explode] for name, where, style, explode in places]
    return build_request(
        {"method": "GET", "url": url, "places": listed, "content_type": ""}, arguments
    ).url.removeprefix("https://t.example/")


@pytest.mark.parametrize(
    ("style", "explode", "value", "query"),
    [
        ("form", True, "a&b=c", "v=a%26b%3Dc"),
        ("form", True, True, "v=true"),
        ("form", True, LIST, "v=a%20b&v=1"),
        ("form", False, LIST, "v=a%20b%2C1"),
        ("form", True, OBJECT, "x=1&y=true"),
        ("form", False, OBJECT, "v=x%2C1%2Cy%2Ctrue"),
        ("spaceDelimited", False, LIST, "v=a%20b%201"),
        ("pipeDelimited", False, LIST, "v=a%20b%7C1"),
        ("deepObject", True, OBJECT, "v%5Bx%5D=1&v%5By%5D=true"),
        ("deepObject", True, LIST, "v%5B%5D=a%20b&v%5B%5D=1"),
        ("deepObject", True, {"a": [{"b": 1}]}, "v%5Ba%5D%5B0%5D%5Bb%5D=1"),
        ("json", False, LIST, "v=%5B%22a%20b%22%2C%201%5D"),
    ],
)
def test_a_query_has_the_style_of_its_parameter(style: str, explode: bool, value: Any, query: str) -> None:
    assert url_of(("v", "query", style, explode), v=value) == f"p?{query}"


@pytest.mark.parametrize(
    ("value", "path"),
    [("a/b?c#d", "a%2Fb%3Fc%23d"), (7, "7"), (["a", "b"], "a%2Cb"), ("{w}", "%7Bw%7D"), ("..a", "..a")],
)
def test_a_value_stays_in_its_place_of_the_path(value: Any, path: str) -> None:
    assert url_of(("v", "path", "simple", False), url="https://t.example/x/{v}/z", v=value) == f"x/{path}/z"


@pytest.mark.parametrize("value", ["", None, ".", "..", "../admin", "a/../../b", "..\\a"])
def test_a_value_does_not_lead_out_of_the_path(value: Any) -> None:
    with pytest.raises(CallFailed, match="cannot be the value of v"):
        url_of(("v", "path", "simple", False), url="https://t.example/x/{v}", v=value)


@pytest.mark.parametrize("value", ["a\r\nCookie: x", "a\0"])
def test_a_header_has_one_line(value: str) -> None:
    with pytest.raises(CallFailed, match="cannot be the value of X-V"):
        url_of(("X-V", "header", "simple", False), **{"X-V": value})


FIELDS = [["meta", "deepObject", True], ["tags", "form", False]]


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ({"a": "x y&z", "n": 1, "ok": True}, "a=x%20y%26z&n=1&ok=true"),
        ({"l": ["a", "b"], "o": {"x": 1}, "nothing": None}, "l=a&l=b&o=%7B%22x%22%3A%201%7D"),
        (
            {"meta": {"x": 1, "y": {"z": "ü"}}, "tags": ["a", "b"]},
            "meta%5Bx%5D=1&meta%5By%5D%5Bz%5D=%C3%BC&tags=a%2Cb",
        ),
        ({}, ""),
    ],
)
def test_a_form_is_encoded_as_the_document_says(value: Any, sent: str) -> None:
    operation = {
        "method": "POST",
        "url": "https://t.example/p",
        "places": [],
        "content_type": FORM,
        "fields": FIELDS,
    }
    request = build_request(operation, {"body": value})
    assert (request.body, request.headers["Content-Type"]) == (sent.encode(), FORM)


def test_a_form_that_is_no_object_is_refused() -> None:
    operation = {"method": "POST", "url": "https://t.example/p", "places": [], "content_type": FORM}
    with pytest.raises(CallFailed, match="has to be an object"):
        build_request(operation, {"body": ["a"]})


def received(status: int, content: bytes, content_type: str = "application/json") -> Received:
    return Received(status, content_type, content)


@pytest.mark.parametrize(
    ("answered", "answer"),
    [
        (received(200, b'{"a": 1}'), Answer('{"a": 1}', structured={"a": 1})),
        (received(200, b"[1]", "application/geo+json"), Answer("[1]", structured={"result": [1]})),
        (received(200, b"{"), Answer("{")),
        (received(200, "Büsum".encode("latin-1"), "text/plain; charset=latin1"), Answer("Büsum")),
        (received(200, b"plain", ""), Answer("plain")),
        (
            received(200, b"\x89PNG\r\n\x1a\n", "image/png"),
            Answer("(A file of 8 bytes, image/png, which cannot be shown here.)"),
        ),
    ],
)
def test_what_a_model_reads(answered: Received, answer: Answer) -> None:
    assert read_answer(answered) == answer


def test_a_long_answer_is_cut_and_has_no_structure() -> None:
    answer = read_answer(received(200, b"[" + b"1," * 60_000 + b"1]"))
    assert answer.text.endswith("(Cut off: the result has 120003 characters.)")
    assert answer.structured is None


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (307, CallFailed, r"status 307 \(Temporary Redirect\)"),
        (401, CallFailed, r"status 401 \(Unauthorized\)"),
        (599, CallLost, "status 599"),
        (503, CallLost, r"status 503 \(Service Unavailable\): closed until dawn"),
    ],
)
def test_an_error_is_one_sentence_with_its_status(status: int, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        read_answer(received(status, b"closed\n until dawn", "text/plain"))
