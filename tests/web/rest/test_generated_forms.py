"""Forms of any parts, in any order, as text or as a file, are answered with what the document of the API says, and never with a 500."""

# ruff: noqa: F811  fixtures that are imported are parameters as well

import json
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.rest.conformance import SCHEMA, SETTINGS, world  # noqa: F401  fixtures
from tests.web.rest.generated_requests import World, undone

pytestmark = pytest.mark.django_db
FORM: Final = "multipart/form-data"
BOUNDARY: Final = "tides"


def _operations() -> dict[str, tuple[str, str, Any]]:
    """Of those that take a form: method, path and documented answers, by name."""
    found = (one.ok() for one in SCHEMA.get_all_operations())
    return {
        one.definition.raw["operationId"]: (one.method, one.path, one.definition.raw["responses"])
        for one in found
        if FORM in one.definition.raw.get("requestBody", {}).get("content", {})
    }


OPERATIONS: Final = _operations()
FILE: Final = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nTwo tides.\r\n'.encode()
NAMES = st.sampled_from(["file", "project", "title", "text", "url", "metadata", "", "filé", "a" * 300])
TYPES = st.sampled_from(["", "text/plain", "application/json", "image/png", "multipart/mixed", "x" * 300])


@st.composite
def parts(draw: st.DrawFn, world: World) -> bytes:
    """A part of a form: its head and its content."""
    name, type_ = draw(NAMES), draw(TYPES)
    file = draw(st.sampled_from([None, None, "", "tides.txt", "…/../tides.pdf", "x" * 5_000]))
    content = draw(
        st.one_of(
            st.binary(max_size=60), st.text(max_size=60).map(str.encode), st.just(b"x" * 3_000),
            st.sampled_from([world.ids["project"].encode(), json.dumps({"a": 1}).encode(), b"\0", b"\xff"]),
        )
    )  # fmt: skip
    head = f'Content-Disposition: form-data; name="{name}"' + (
        f'; filename="{file}"' if file is not None else ""
    )
    if type_:
        head += f"\r\nContent-Type: {type_}"
    return f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_any_form_is_answered_as_documented(operation: str, world: World) -> None:
    method, path, documented = OPERATIONS[operation]
    address, statuses = path.format(**world.ids), set()

    @settings(SETTINGS, max_examples=60)
    @given(
        first=st.sampled_from([b"", FILE]),
        sent=st.one_of(st.just([]), st.lists(parts(world), max_size=12)),
        is_whole=st.integers(0, 9),
    )
    def ask(first: bytes, sent: list[bytes], is_whole: int) -> None:
        body = first + b"".join(sent) + (f"--{BOUNDARY}--\r\n".encode() if is_whole else b"")
        with undone():
            answer = world.client.generic(method, address, body, content_type=f"{FORM}; boundary={BOUNDARY}")
        statuses.add(answer.status_code)
        status = str(answer.status_code)
        assert {status, f"{status[0]}XX", "default"} & set(documented), (status, answer.content)
        assert answer.status_code < 500, answer.content

    ask()
    assert any(status < 400 for status in statuses), "some are accepted"
    assert 400 in statuses
