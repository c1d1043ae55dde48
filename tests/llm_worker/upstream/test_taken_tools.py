"""One tool never refuses every turn: a refusal that names it leaves it out, and one of their number cuts the list."""

import pytest

from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.request_body import name_of, refused_of_caller, refused_tools, taken_tools

pytestmark = pytest.mark.pure


def schemas(*names):
    return [
        {"type": "function", "function": {"name": name, "description": "", "parameters": {}}}
        for name in names
    ]


def left(said, names, *, status=400):
    """Return the names that are sent after a refusal."""
    failure = ModelFailed("upstream_rejected", said, status)
    offered = schemas(*names)
    return [name_of(schema) for schema in taken_tools(offered, refused_tools(failure, offered, ()), {})]


THREE = ("current_time", "odd__odd", "web_search")


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("Invalid schema for function 'odd__odd': property keys should match pattern", id="OpenAI"),
        pytest.param("Invalid 'tools[1].function.name': string too long. Expected a maximum length 64", id="OpenAI, place"),
        pytest.param("tools.1.custom.input_schema: JSON schema is invalid; maximum depth 1", id="Anthropic"),
        pytest.param("body.tools.1.function.parameters.type: Input should be 'object'", id="FastAPI"),
        pytest.param(
            "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty for OBJECT type",
            id="Gemini",
        ),
        pytest.param('invalid JSON schema for tool odd__odd: `format`: unknown "date" (known: current_time)', id="Groq"),
    ],
)  # fmt: skip
def test_the_tool_that_a_refusal_names_is_left_out_and_no_other(said):
    assert left(said, THREE) == ["current_time", "web_search"]


@pytest.mark.parametrize(
    "said",
    [
        "Invalid 'messages[3].tool_calls[0].function.name': 'odd__odd' is no function of this request",
        "tool_use_failed Tool call validation failed: parameters for tool odd__odd did not match schema",
        "Function call arguments of 'odd__odd' must be valid JSON",
        "The model is odd__oddly configured for tools",
        "messages: text content blocks must be non-empty",
        "tools.7.function: there is no such tool",
    ],
)
def test_a_refusal_of_something_else_keeps_every_tool(said):
    assert left(said, THREE) == list(THREE)


def test_a_busy_server_that_names_a_tool_refuses_none():
    failure = ModelFailed("upstream_unavailable", "function 'odd__odd' timed out", 503)
    assert not refused_tools(failure, schemas(*THREE), ())


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.", 128),
        ("'tools' : maximum number of items is 128", 128),
        ("body.tools: List should have at most 64 items after validation, not 140", 64),
        ("[{'type': 'function'}] is too long - 'tools'", 128),
        ("Too many function_declarations: the limit is 100", 100),
    ],
)  # fmt: skip
def test_of_more_tools_than_a_server_takes_as_many_as_it_says_are_sent(said, most):
    names = [f"server__tool{number:03}" for number in range(139)] + ["web_search"]
    kept = left(said, names)
    assert len(kept) == most
    assert "web_search" in kept  # our own come before those of servers


def test_the_tools_that_are_used_most_are_kept():
    names = [f"server__tool{number}" for number in range(5)]
    kept = taken_tools(schemas(*names), {"max_tools:2"}, {"server__tool4": 9, "server__tool2": 1})
    assert [name_of(schema) for schema in kept] == ["server__tool2", "server__tool4"]


def test_a_tool_whose_schema_changed_is_tried_again():
    failure = ModelFailed("upstream_rejected", "Invalid schema for function 'odd__odd'", 400)
    before, after = schemas("odd__odd"), schemas("odd__odd")
    traits = refused_tools(failure, before, ())
    after[0]["function"]["parameters"] = {"type": "object"}
    assert taken_tools(before, traits, {}) == []
    assert taken_tools(after, traits, {}) == after


def test_tools_of_the_caller_are_never_left_out():
    offered = schemas("a__a", "mine", "web_search")
    refused = refused_tools(
        ModelFailed("upstream_rejected", "Invalid schema for function 'mine'", 400), offered, ()
    )
    sent = taken_tools(offered, refused | {"max_tools:2"}, {"a__a": 9}, {"mine"})
    assert [name_of(schema) for schema in sent] == ["a__a", "mine"]


@pytest.mark.parametrize(
    ("refused", "named"),
    [
        ({"refused_tool:other:0a"}, ""),
        ({"refused_tool:other:0a", "refused_tool:mine:0b"}, "tools.mine"),
        ({"max_tools:2"}, ""),
        ({"max_tools:1"}, "tools"),
    ],
)
def test_a_refusal_names_what_it_leaves_out_of_the_callers(refused, named):
    assert refused_of_caller(refused, {"mine", "mine_too"}) == named
