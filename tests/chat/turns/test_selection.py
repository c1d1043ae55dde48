"""Which models and which forced tool answer a turn."""

import pytest

from chat.models import Agent, ModelConfig
from chat.protocol.errors import ApiError
from chat.turns.selection import choose_forced_tool, choose_models, model_names

QUICK, DEEP, WISE = (ModelConfig(name=name) for name in ("quick", "deep", "wise"))
AGENT = Agent(models=["deep", "gone"], tools=["web_search"])
WITHOUT_MODELS = Agent(models=[], tools=[])


@pytest.mark.parametrize(
    ("requested", "agent", "enabled", "chosen"),
    [
        pytest.param(None, None, [QUICK, DEEP], [QUICK], id="the default comes first"),
        pytest.param(("wise", "deep"), None, [DEEP, WISE], [WISE, DEEP], id="in the order of the request"),
        pytest.param(("quick",), AGENT, [QUICK], [QUICK], id="a request overrides the agent"),
        pytest.param(None, AGENT, [DEEP, QUICK], [DEEP], id="a disabled model of the agent is left out"),
        pytest.param(None, AGENT, [QUICK], [QUICK], id="the default, if no model of the agent is enabled"),
        pytest.param(None, WITHOUT_MODELS, [QUICK], [QUICK], id="the default for an agent without models"),
    ],
)
def test_models_are_chosen(
    requested: tuple[str, ...] | None,
    agent: Agent | None,
    enabled: list[ModelConfig],
    chosen: list[ModelConfig],
) -> None:
    assert choose_models(enabled, requested, agent) == chosen


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
        choose_models(enabled, requested, AGENT)
    assert refused.value.code == "models_invalid"


def test_names_come_from_the_request_or_the_agent() -> None:
    assert model_names(("quick",), AGENT) == ("quick",)
    assert model_names(None, AGENT) == ("deep", "gone")
    assert model_names(None, WITHOUT_MODELS) is None
    assert model_names(None, None) is None


def test_only_a_tool_of_the_agent_can_be_forced() -> None:
    assert choose_forced_tool("web_search", AGENT) == "web_search"
    assert choose_forced_tool(None, AGENT) == ""
    for agent in (WITHOUT_MODELS, None):
        with pytest.raises(ApiError) as refused:
            choose_forced_tool("web_search", agent)
        assert refused.value.code == "tool_unknown"
