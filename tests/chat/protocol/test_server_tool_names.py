"""The names under which models are offered the tools of MCP servers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol import server_tool_names as names

pytestmark = pytest.mark.pure


def test_a_name_is_spelled_as_models_take_it_and_changed_no_further() -> None:
    assert names.offered_names("s", ["get_time", "a.b"]) == {"get_time": "s__get_time", "a.b": "s__a_b"}


def test_where_two_would_be_called_the_same_the_one_that_is_called_so_keeps_its_name() -> None:
    found = names.offered_names("s", ["a_b", "a.b", "a/b"])
    assert found["a_b"] == "s__a_b"
    assert {re.sub("[0-9a-f]{8}$", "…", found[tool]) for tool in ("a.b", "a/b")} == {"s__a_b_…"}


@given(st.lists(st.text(min_size=1, max_size=100), min_size=1, max_size=20, unique=True), st.randoms())
def test_names_differ_fit_and_do_not_depend_on_the_order(tools: list[str], random: object) -> None:
    found = names.offered_names("server", tools)
    assert len(set(found.values())) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in found.values())
    shuffled = list(tools)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert names.offered_names("server", shuffled) == found


@pytest.mark.parametrize("name", ["time", "My-Server", "a_b", "x" * 30])
def test_a_server_may_be_called(name: str) -> None:
    assert names.is_server_name(name)
    assert names.is_server_tool(f"{name}__*")
    assert names.server_of(f"{name}__a__b") == name


@pytest.mark.parametrize("name", ["", "a__b", "a_", "_a", "-a", "ü", "a b", "x" * 31])
def test_a_server_may_not_be_called(name: str) -> None:
    assert not names.is_server_name(name)


def test_a_choice_names_one_tool_or_all_of_a_server() -> None:
    assert names.is_chosen("time__now", {"time__now"})
    assert names.is_chosen("time__now", {"time__*"})
    assert not names.is_chosen("time__now", {"times__*", "time__then", "web_search"})
    assert not names.is_server_tool("web_search")
