"""Which models and which forced tool answer a turn, and with which options."""

from typing import Any

import pytest

from chat.models import Agent, ModelConfig, Session
from chat.protocol.errors import ApiError
from chat.transcript.answer_settings import SessionSettings, merge_options
from chat.turns.selection import (
    choose_forced_tool,
    choose_models,
    choose_options,
    model_names,
    standing_choices,
    standing_options,
)

pytestmark = pytest.mark.pure

QUICK, DEEP, WISE = (ModelConfig(name=name) for name in ("quick", "deep", "wise"))
AGENT = Agent(models=["deep", "gone"], tools=["web_search"])
WITHOUT_MODELS = Agent(models=[], tools=[])
AGENTS = ["deep", "gone"]


@pytest.mark.parametrize(
    ("requested", "choices", "enabled", "chosen"),
    [
        pytest.param(None, [], [QUICK, DEEP], [QUICK], id="the default comes first"),
        pytest.param(("wise", "deep"), [], [DEEP, WISE], [WISE, DEEP], id="in the order of the request"),
        pytest.param(("quick",), [AGENTS], [QUICK], [QUICK], id="a request overrides the agent"),
        pytest.param(None, [AGENTS], [DEEP, QUICK], [DEEP], id="a disabled model of the agent is left out"),
        pytest.param(None, [AGENTS], [QUICK], [QUICK], id="the default, if no model of the agent is enabled"),
        pytest.param(None, [[], []], [QUICK], [QUICK], id="the default where nothing was chosen"),
        pytest.param(None, [["wise"], AGENTS], [WISE, DEEP], [WISE], id="the session's choice comes before"),
        pytest.param(None, [[], AGENTS, ["wise"]], [DEEP, WISE], [DEEP], id="an agent's before the user's"),
        pytest.param(None, [[], [], ["wise"]], [WISE, QUICK], [WISE], id="the user's before the default"),
        pytest.param(
            None, [["gone"], AGENTS], [DEEP, QUICK], [DEEP], id="the agent's, if the choice is gone"
        ),
    ],
)
def test_models_are_chosen(
    requested: tuple[str, ...] | None,
    choices: list[list[str]],
    enabled: list[ModelConfig],
    chosen: list[ModelConfig],
) -> None:
    assert choose_models(enabled, requested, choices) == chosen


@pytest.mark.parametrize(
    ("requested", "enabled"),
    [
        pytest.param(("quick", "gone"), [QUICK, DEEP], id="one of two is not enabled"),
        pytest.param(("gone",), [QUICK], id="the only one is not enabled"),
        pytest.param(None, [], id="no model is configured"),
    ],
)
def test_models_that_are_not_enabled_are_refused(
    requested: tuple[str, ...] | None, enabled: list[ModelConfig]
) -> None:
    with pytest.raises(ApiError) as refused:
        choose_models(enabled, requested, [AGENTS])
    assert refused.value.code == "models_invalid"


def test_names_come_from_the_request_or_all_choices() -> None:
    assert model_names(("quick",), [AGENTS]) == ("quick",)
    assert model_names(None, [["wise", "deep"], AGENTS]) == ("wise", "deep", "gone")
    assert model_names(None, [[], []]) is None


def test_a_sessions_own_choice_comes_before_its_agents() -> None:
    assert standing_choices(Session(models=["wise"], has_own_models=True, agent=AGENT)) == [
        ["wise"],
        AGENTS,
        (),
    ]
    assert standing_choices(Session(models=["wise"]), ["deep"]) == [[], [], ["deep"]], (
        "named for one turn, not chosen for all"
    )


def test_only_a_tool_of_the_agent_or_the_session_can_be_forced() -> None:
    for chosen in (
        Session(agent=AGENT),
        Session(settings=SessionSettings(tools=["web_search"])),
        Session(agent=AGENT, settings=SessionSettings(tools=["current_time"])),
    ):
        assert choose_forced_tool("web_search", chosen, {"web_search"}.__contains__) == "web_search"
        assert choose_forced_tool(None, chosen, {"web_search"}.__contains__) == ""
    for session in (Session(agent=WITHOUT_MODELS), Session()):
        with pytest.raises(ApiError) as refused:
            choose_forced_tool("web_search", session, {"web_search"}.__contains__)
        assert refused.value.code == "tool_unknown"


def test_a_tool_that_the_instance_is_not_set_up_for_cannot_be_forced() -> None:
    with pytest.raises(ApiError) as refused:
        choose_forced_tool("web_search", Session(agent=AGENT), {"current_time"}.__contains__)
    assert (refused.value.code, refused.value.field) == ("tool_not_configured", "forced_tool")


WARM, COOL, OWN = {"temperature": 1.0}, {"temperature": 0.0}, {"temperature": None}


@pytest.mark.parametrize(
    ("agent", "session", "turn", "chosen"),
    [
        pytest.param({}, {}, {}, {}, id="the model's own"),
        pytest.param(WARM, {}, {}, WARM, id="the agent's"),
        pytest.param(WARM, COOL, {}, COOL, id="the session's before the agent's"),
        pytest.param(WARM, COOL, {"temperature": 0.5}, {"temperature": 0.5}, id="the turn's before both"),
        pytest.param(WARM, OWN, {}, {}, id="a session takes away what the agent says"),
        pytest.param(WARM, COOL, OWN, {}, id="a turn takes away what both say"),
        pytest.param(WARM, OWN, COOL, COOL, id="a turn names what the session has taken away"),
        pytest.param(
            {"seed": 1},
            {"top_p": 0.5},
            WARM,
            {"seed": 1, "top_p": 0.5, **WARM},
            id="each says something else",
        ),
    ],
)
def test_the_more_particular_option_applies(
    agent: dict[str, Any], session: dict[str, Any], turn: dict[str, Any], chosen: dict[str, Any]
) -> None:
    standing = standing_options(
        Session(agent=Agent(options=agent), settings=SessionSettings(options=session))
    )
    assert choose_options([*standing, turn], [QUICK]) == chosen


def test_a_session_without_an_agent_has_its_own_options() -> None:
    assert merge_options(
        *standing_options(Session(settings=SessionSettings(options={"seed": 1, "top_p": None})))
    ) == {"seed": 1}


def test_an_option_of_the_agent_that_a_model_cannot_have_is_refused_by_name() -> None:
    plain = ModelConfig(name="plain", unsupported_options=["seed"])
    standing = standing_options(Session(agent=Agent(options={"seed": 1})))
    with pytest.raises(ApiError) as refused:
        choose_options(standing, [QUICK, plain])
    assert (refused.value.code, refused.value.field) == ("option_unsupported", "options.seed")
    assert choose_options([*standing, {"seed": None}], [QUICK, plain]) == {}
