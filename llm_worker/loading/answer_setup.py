"""Describes the setup of an attempt, for its record (chat/transcript/answer_setup.py). No queries of its own."""

from collections.abc import Sequence
from typing import Any

from chat.models import Run
from chat.prompts.definition import define_prompts
from chat.transcript.answer_setup import AnswerSetup, digest
from chat.transcript.entries import Entry
from llm_worker.loading.turn_context import TurnContext
from llm_worker.loop.brief import Brief
from llm_worker.prompts import prompt
from llm_worker.request.system_prompt import add_guidance
from llm_worker.tools.schemas import tool_schemas


def describe_setup(run: Run, brief: Brief, turn_context: TurnContext) -> AnswerSetup:
    """Describe prompts and options of an attempt. turn_context: the one that the brief was built with.

    Records only whether the user had instructions, not their text: versions outlive accounts.
    """
    session = run.turn.session
    agent = session.agent if session.agent_id else None
    own = session.own_prompt() if agent or session.project_id or session.settings.prompt else ""
    definition = define_prompts(agent, own, turn_context.base_prompt)
    stored = _stored_prompt(brief.entries)
    if definition["base_prompt"] and stored is not None:
        definition["prompt"] = stored  # the prompt when the question was sent
    return AnswerSetup(
        prompts=definition | _composed(definition, brief),
        options=_options(brief) | {"has_instructions": bool(turn_context.instructions.strip())},
        agent=agent.pk if agent else None,
        agent_name=agent.name if agent else "",
    )


def _composed(definition: dict[str, Any], brief: Brief) -> dict[str, Any]:
    """Return the composed prompts and the schemas of the tools.

    system: without the section on citations, and with the placeholder of the date: both differ between sessions.
    """
    replaces = definition["replaces_system_prompt"]
    foundation = definition["base_prompt"] or definition["prompt"]
    return {
        "system": foundation if replaces else add_guidance(foundation, brief.tools, cites=False),
        "citations": "" if replaces else prompt("citations"),
        "tool_schemas": tool_schemas(brief.tools),
    }


def _options(brief: Brief) -> dict[str, Any]:
    model, parts = brief.model, brief.prompt_parts
    return {
        "model": model.name,
        "context_window": brief.context_window,
        "max_output_tokens": model.max_output_tokens,
        "answer_reserve": brief.answer_reserve,
        "run_options": dict(brief.options),
        "tokenizer": brief.tokenizer,
        "token_factor": round(brief.token_factor, 2),
        "prompt_cache_key": model.takes_prompt_cache_key,
        "alternating_roles": model.requires_alternating_roles,
        "tool_choice_none": model.takes_tool_choice_none,
        "sees_images": parts.sees_images,
        "max_cycles": brief.max_cycles,
        "tools": [tool.name for tool in brief.tools],
        "forced_tool": brief.forced_tool,
        "asks_for_citations": prompt("citations") in parts.system,
        "citable_documents": len(brief.documents),
        "has_reminder": bool(brief.reminder),
        "has_project": bool(parts.project or parts.project_pictures),
        "has_dynamic_context": bool(parts.dynamic_context),
        "summary": parts.summary_id,
        # The answer continues the text of an earlier attempt (prefill).
        "continues_text": bool(brief.earlier.text),
        "system_prompt_digest": digest(parts.system) if parts.system else "",
    }


def _stored_prompt(entries: Sequence[Entry]) -> str | None:
    """Return the agent's prompt that is stored in the branch, the latest one; None if none is stored."""
    blocks = (block for entry in reversed(entries) for block in entry.blocks if block.kind == "CA")
    return next((block.text for block in blocks), None)
