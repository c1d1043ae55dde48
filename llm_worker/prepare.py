"""From rows to the brief of a run: the last place that sees rows before the loop."""

from typing import Any

from django.conf import settings

from chat.models import Agent, Run, SystemPrompt
from chat.prompts import default_system_prompt
from chat.protocol import Snapshot
from chat.rounds import rounds_of
from chat.shapes import message_shape
from chat.transcript import Entry
from llm_worker.branch import load_branch
from llm_worker.brief import Brief, Earlier
from llm_worker.deltas import ModelFailed, Usage
from llm_worker.framing import Framing
from llm_worker.served import model_of
from llm_worker.system_prompt import AgentPrompt, system_prompts
from llm_worker.taking_up import is_finished
from llm_worker.tools import offered
from llm_worker.tools.tool import Tool


def prepare(run: Run) -> Brief:
    """What `run` is to answer, and with what. Reads the database. Raises ModelFailed if nothing can be asked."""
    config = run.model_config
    model = model_of(config) if config else None
    if config is None or model is None:
        raise ModelFailed("model_not_configured", f"{run.model} has no configuration or no address")
    agent = _agent(run)
    tools = offered(agent.tools) if agent and config.supports_tools else []
    if run.forced_tool and run.forced_tool not in {tool.name for tool in tools}:
        raise ModelFailed("tool_unknown", f"{run.forced_tool} is not offered to {run.model}")
    branch = load_branch(run.turn.user_message_id, has_agent=agent is not None)
    return Brief(
        model=model,
        entries=branch.entries,
        framing=_framing(run, agent, tools, branch.entries),
        context_window=config.context_window,
        max_cycles=settings.MAX_LLM_CYCLES,
        tokenizer=config.tokenizer,
        tools=tools,
        forced_tool=run.forced_tool,
        reminder=agent.reminder if agent else "",
        cache_key=str(run.turn.session_id),
        highest_number=branch.highest_number,
        earlier=_earlier(run) if run.attempt > 1 else Earlier(),
    )


def may_go_on(run: Run) -> bool:
    """Whether this attempt may continue what an earlier one has saved, instead of beginning anew."""
    return bool(run.attempt > 1 and run.model_config and run.model_config.supports_prefill)


def opening(run: Run) -> Snapshot | None:
    """What shows readers what is kept; it opens the attempt, and the continuation follows it. None: nothing is kept."""
    if not _goes_on(run):
        return None
    message = run.message
    kept = message_shape(message) | {"text": message.text}
    kept.pop("cursor", None)
    kept.pop("reasoning", None)
    if message.reasoning:
        kept["reasoning"] = message.reasoning
    cut_short = [number for number, each in enumerate(rounds_of(run.pk)) if not is_finished(each)]
    # Those are carried out again, and shown as that happens.
    kept["tool_calls"] = [call for call in kept["tool_calls"] if call["turn_number"] not in cut_short]
    return Snapshot(str(run.pk), run.attempt, 0, kept)


def _agent(run: Run) -> Agent | None:
    agent_id = run.turn.session.agent_id
    return Agent.objects.filter(pk=agent_id).first() if agent_id else None


def _framing(run: Run, agent: Agent | None, tools: list[Tool], entries: Any) -> Framing:
    edited = SystemPrompt.edited()
    base = default_system_prompt() if edited is None else edited
    prompts = system_prompts(
        base,
        AgentPrompt(agent.prompt, agent.replaces_system_prompt) if agent else AgentPrompt(),
        tools,
        has_documents=False,
        session_began_at=run.turn.session.created_at,
    )
    stored = _stored_kinds(agent, entries)
    return Framing(
        system=prompts.system,
        agent_prompt="" if "CA" in stored else prompts.agent_prompt,
        dynamic_context="" if "D" in stored else run.dynamic_context,
        sees_images=bool(run.model_config and run.model_config.supports_vision),
    )


def _stored_kinds(agent: Agent | None, entries: list[Entry]) -> set[str]:
    """What stands in the branch already, for agents whose context only grows."""
    if agent is None or agent.context_layout != "append_only":
        return set()
    return {block.kind for entry in entries for block in entry.blocks}


def _goes_on(run: Run) -> bool:
    return may_go_on(run) and bool(run.message.text.strip())


def _earlier(run: Run) -> Earlier:
    rounds = rounds_of(run.pk)
    used = Run.objects.values_list(*Usage._fields, "cycles").get(pk=run.pk) if rounds else None
    counted = {"usage": Usage(*used[:-1]), "cycles": used[-1]} if used else {}
    if not _goes_on(run):
        return Earlier(rounds, **counted)
    narrated = sum(len(each.text_before) for each in rounds)
    has_all = not rounds or is_finished(rounds[-1])
    return Earlier(
        rounds,
        said=run.message.text[narrated:],
        thought=run.message.reasoning if has_all else "",
        is_shown=True,
        **counted,
    )
