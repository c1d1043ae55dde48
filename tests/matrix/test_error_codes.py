"""Every code that a client can receive is documented, and every documented code is one that the code can send."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from chat.protocol.errors import REFUSALS, RUN_ERRORS
from chat.protocol.wire import CloseCode
from tests.instance import ROOT
from tests.matrix import asyncapi
from tests.openapi import document
from web.rest.errors import ERROR_CODES

PACKAGES = ("knowledge", "chat", "llm_worker", "web", "compression", "features", "config")
TABLES = {ROOT / "chat/protocol/errors.py", ROOT / "chat/protocol/wire.py"}
# What ApiError takes beside members of the error's body.
NOT_MEMBERS = {"field", "retry_after_s"}
pytestmark = [pytest.mark.pure, pytest.mark.documents, pytest.mark.slow]
ALWAYS = {"code", "message", "field", "request_id"}


@cache
def trees() -> dict[Path, ast.Module]:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths if path not in TABLES}


def calls(*names: str) -> Iterator[ast.Call]:
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names:
                yield node


@cache
def texts() -> set[str]:
    """Every literal text of the sources, the tables of codes left out."""
    constants = (
        node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.Constant)
    )
    return {node.value for node in constants if isinstance(node.value, str)}


def literals(call: ast.Call) -> Iterator[str]:
    """The codes that a call names; a conditional expression names two."""
    for argument in call.args[:1]:
        named = [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]
        yield from (str(node.value) for node in named if isinstance(node, ast.Constant))


def nouns() -> set[str]:
    """Whose absence is answered with a code of its own."""
    in_code = {call.args[2].value for call in calls("get_own_row") if isinstance(call.args[2], ast.Constant)}
    return {str(noun) for noun in in_code}


def described_codes() -> set[str]:
    answer = document()["components"]["schemas"]["ErrorAnswer"]["properties"]["code"]
    name = (
        answer["$ref"].rpartition("/")[2]
        if "$ref" in answer
        else answer["allOf"][0]["$ref"].rpartition("/")[2]
    )
    return set(document()["components"]["schemas"][name]["enum"])


def test_both_documents_name_every_code_and_no_other() -> None:
    codes = set(dict(ERROR_CODES))
    assert set(REFUSALS) < codes
    assert described_codes() == codes
    assert set(asyncapi.DOCUMENT["components"]["schemas"]["ErrorCode"]["enum"]) == codes


def test_every_code_that_is_raised_is_in_the_table() -> None:
    raised = {code for call in calls("ApiError") for code in literals(call)}
    assert len(raised) > 40
    assert raised <= set(REFUSALS)
    assert {f"{noun}_not_found" for noun in nouns()} <= set(REFUSALS)
    assert len(nouns()) >= 5


def is_sent(code: str) -> bool:
    noun = code.removesuffix("_not_found")
    return code in texts() or (noun != code and noun in texts())


def test_every_code_of_the_table_is_sent_by_something() -> None:
    assert [code for code in REFUSALS if not is_sent(code)] == []


def test_every_code_of_a_run_is_used() -> None:
    assert set(RUN_ERRORS) - texts() == set()


def test_the_documents_name_every_code_of_a_run_and_no_other() -> None:
    described = document()["components"]["schemas"]["RunErrorAnswer"]["properties"]["code"]["description"]
    assert set(re.findall(r"`(\w+)`", described)) == set(RUN_ERRORS)
    examples = asyncapi.DOCUMENT["components"]["schemas"]["Error"]["properties"]["code"]["examples"]
    assert set(examples) == set(RUN_ERRORS)
    assert {code for call in calls("run_error", "_rule") for code in literals(call)} <= set(RUN_ERRORS)


def test_every_member_that_an_error_can_have_is_described() -> None:
    given = {keyword.arg for call in calls("ApiError") for keyword in call.keywords} - NOT_MEMBERS
    rest = document()["components"]["schemas"]["ErrorAnswer"]["properties"]
    socket = asyncapi.payload(asyncapi.MESSAGES["error_frame"])["properties"]
    assert set(rest) == ALWAYS | given
    assert set(socket) == ALWAYS | given | {"type", "id"}


def test_every_close_code_is_described() -> None:
    known = {value for name, value in vars(CloseCode).items() if name.isupper()}
    sentence = asyncapi.DOCUMENT["info"]["description"].partition("Close codes:")[2].partition(". ")[0]
    assert {int(code) for code in re.findall(r"\b\d{4}\b", sentence)} == known
