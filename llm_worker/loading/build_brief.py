"""Builds the brief of a run from database rows; the loop itself sees no rows."""

from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings

from chat.loaders.rounds import cited_in, load_rounds
from chat.log.progress import present_live_message
from chat.models import Agent, Run, SystemPrompt
from chat.models.sql.model_configs import EditedPrompt
from chat.prompts import default_system_prompt
from chat.prompts.prompt_blocks import stores_prompt_blocks
from chat.protocol.wire import Snapshot
from chat.transcript.entries import BlockKind, Document
from chat.transcript.token_usage import TokenUsage
from llm_worker.brief import Brief, EarlierProgress
from llm_worker.loading.branch import Branch, MessageRow, load_branch
from llm_worker.loading.project import ProjectContext, build_project_context
from llm_worker.request.prompt_parts import SUMMARY, SUMMARY_TOKENS, PromptParts
from llm_worker.request.system_prompt import AgentPrompt, build_system_prompts
from llm_worker.resume import is_finished
from llm_worker.tools import select_tools
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model


class PreloadedRows(NamedTuple):
    """What the database was asked already: rows of MESSAGES_OF_RUN, and of EDITED_PROMPT."""

    messages: list[MessageRow]
    edited: list[EditedPrompt]


def build_brief(run: Run, rows: PreloadedRows | None = None) -> Brief:
    """Everything the loop needs to answer `run`. Reads the database. Raises ModelFailed if no request is possible."""
    config = run.model_config
    model = resolve_model(config) if config else None
    if config is None or model is None:
        raise ModelFailed("model_not_configured", f"{run.model} has no configuration or no address")
    session = run.turn.session
    agent = session.agent if session.agent_id else None
    tools = select_tools(agent.tools) if agent and config.supports_tools else []
    if run.forced_tool and run.forced_tool not in {tool.name for tool in tools}:
        raise ModelFailed("tool_unknown", f"{run.forced_tool} is not offered to {run.model}")
    branch = load_branch(run.turn.user_message_id, rows.messages if rows else None)
    if not stores_prompt_blocks(agent):
        branch = branch.without_blocks()  # stored for a previous agent of the session
    project = build_project_context(run, config, branch, in_the_branch=stores_prompt_blocks(agent))
    branch = project.branch
    return Brief(
        model=model,
        entries=branch.entries,
        prompt_parts=build_prompt_parts(run, tools, project, rows),
        context_window=config.context_window,
        max_cycles=settings.MAX_LLM_CYCLES,
        tokenizer=config.tokenizer,
        tools=tools,
        forced_tool=run.forced_tool,
        reminder=agent.reminder if agent else "",
        cache_key=str(run.turn.session_id),
        documents=[*project.documents, *(file.document for entry in branch.entries for file in entry.files)],
        highest_number=project.highest_number,
        earlier=_earlier(run) if run.attempt > 1 else EarlierProgress(),
    )


def can_continue(run: Run) -> bool:
    """Whether this attempt may continue the saved text of an earlier one instead of starting over."""
    return bool(run.attempt > 1 and run.model_config and run.model_config.supports_prefill)


def load_opening(run: Run) -> Snapshot | None:
    """The snapshot of what is kept of earlier attempts, which opens the packet log of this one; None: nothing is kept."""
    if not _continues_text(run):
        return None
    left, rounds = load_saved_answer(run), load_rounds(run.pk)
    if cut_short := [number for number, each in enumerate(rounds) if not is_finished(each)]:
        # The loop executes these again and shows them then.
        calls = [call for call in left.message["tool_calls"] if call["turn_number"] not in cut_short]
        left.message.update(tool_calls=calls, reasoning=rounds[-1].reasoning)
    return left


def load_saved_answer(run: Run) -> Snapshot:
    """A snapshot of everything that earlier attempts have saved."""
    message = run.message
    left = present_live_message(message) | {"text": message.text}
    left.pop("cursor", None)
    left.pop("reasoning", None)
    if message.reasoning:
        left["reasoning"] = message.reasoning
    return Snapshot(str(run.pk), run.attempt, 0, left)


def load_saved_answer_and_citations(run: Run) -> tuple[Snapshot, list[Document]]:
    """The saved answer, and the documents that its text links to."""
    return load_saved_answer(run), cited_in(run.message.text, load_rounds(run.pk))


def build_prompt_parts(
    run: Run, tools: Sequence[Tool], project: ProjectContext, rows: PreloadedRows | None = None
) -> PromptParts:
    """The texts around the branch of `run` when these tools are offered."""
    session, branch = run.turn.session, project.branch
    agent = session.agent if session.agent_id else None
    prompts = build_system_prompts(
        _base_prompt(rows),
        AgentPrompt(
            session.own_prompt() if agent or session.project_id else "",
            replaces=bool(agent and agent.replaces_system_prompt),
        ),
        tools,
        has_documents=bool(project.documents or branch.summarised_files)
        or any(entry.files for entry in branch.entries),
        session_began_at=session.created_at,
    )
    return PromptParts(
        system=prompts.system,
        summary=SUMMARY.format(text=branch.summary.text) if branch.summary else "",
        summary_id=str(branch.summary.id) if branch.summary else "",
        summary_tokens=branch.summary.token_count + SUMMARY_TOKENS if branch.summary else 0,
        agent_prompt="" if _is_stored("CA", agent, branch) else prompts.agent_prompt,
        project=project.text,
        dynamic_context=run.dynamic_context,
        summarised_files=tuple(branch.summarised_files),
        sees_images=bool(run.model_config and run.model_config.supports_vision),
    )


def _base_prompt(rows: PreloadedRows | None) -> str:
    edited = SystemPrompt.edited() if rows is None else rows.edited[0].text if rows.edited else None
    return default_system_prompt() if edited is None else edited


def _is_stored(kind: BlockKind, agent: Agent | None, branch: Branch) -> bool:
    """Whether a block of this kind is stored in the branch, as with the append-only layout."""
    return stores_prompt_blocks(agent) and any(
        block.kind == kind for entry in branch.entries for block in entry.blocks
    )


def _continues_text(run: Run) -> bool:
    return can_continue(run) and bool(run.message.text.strip())


def _earlier(run: Run) -> EarlierProgress:
    rounds = load_rounds(run.pk)
    used = Run.objects.values_list(*TokenUsage._fields, "cycles").get(pk=run.pk) if rounds else None
    counted = {"usage": TokenUsage(*used[:-1]), "cycles": used[-1]} if used else {}
    if not _continues_text(run):
        return EarlierProgress(rounds, **counted)
    narrated = sum(len(each.text_before) for each in rounds)
    has_all = not rounds or is_finished(rounds[-1])
    return EarlierProgress(
        rounds,
        text=run.message.text[narrated:],
        reasoning=run.message.reasoning if has_all else "",
        is_shown=True,
        **counted,
    )
