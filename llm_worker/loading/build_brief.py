"""Builds the brief of a run from database rows; the loop itself sees no rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from chat.loaders.rounds import load_cited, load_rounds
from chat.log.progress import present_live_message
from chat.models import Agent, Approval, ModelConfig, Run, ToolPolicy
from chat.models.sql.model_configs import StandingPrompts
from chat.prompts.definition import define_prompts
from chat.prompts.prompt_blocks import stores_prompt_blocks
from chat.protocol.wire import Snapshot
from chat.transcript.answer_settings import AnswerSetup, digest
from chat.transcript.entries import BlockKind, Document, Entry
from chat.transcript.rebuild import ShownRound
from chat.transcript.tokens import installed_encodings, load_encoding
from chat.transcript.tools import ApprovalRule
from chat.transcript.usage import RunSpending, TokenUsage
from chat.transcript.waits import ANY, CallerTools
from llm_worker.loading.branch import Branch, MessageRow, load_branch
from llm_worker.loading.project import NOT_SHOWN, ProjectContext, build_project_context
from llm_worker.loading.turn_context import TurnContext
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief, EarlierProgress
from llm_worker.loop.calls import needed_approvals
from llm_worker.loop.cycle import Cycle, build_cycle
from llm_worker.loop.loop import is_finished
from llm_worker.loop.state import NOTHING_WRITTEN, Utterance
from llm_worker.prompts import prompt
from llm_worker.request.prompt_parts import SUMMARY, SUMMARY_TOKENS, PromptParts
from llm_worker.request.system_prompt import add_guidance
from llm_worker.tools.read_file.tool import TOOL as READ_FILE
from llm_worker.tools.registry import TOOLS
from llm_worker.tools.tool import Tool, tool_schemas
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.model_request import Model


class PreloadedRows(NamedTuple):
    """Rows that have been queried already: those of MESSAGES_OF_RUN, and the row of STANDING_PROMPTS."""

    messages: list[MessageRow]
    prompts: StandingPrompts


def build_brief(run: Run, rows: PreloadedRows | None = None) -> Brief:
    """Build the brief of `run`. Reads the database. Raises ModelFailed if no request is possible."""
    config = run.model_config
    model = resolve_model(config) if config else None
    if config is None or model is None:
        raise ModelFailed("model_not_configured", f"{run.model} has no configuration or no address")
    if not config.enabled:
        raise ModelFailed("model_not_configured", f"{run.model} is disabled")
    if config.tokenizer in installed_encodings():
        load_encoding(config.tokenizer)  # here: the event loop, which counts with it, must not wait for it
    turn_context = TurnContext.of_run(run, config, prompts=rows.prompts if rows else None)
    tools = turn_context.tools
    required = CallerTools.from_json(run.turn.caller_tools).required
    forced_tool = run.forced_tool or ("" if required == ANY else required)
    if forced_tool and forced_tool not in {tool.name for tool in tools}:
        is_missing = forced_tool in TOOLS and not TOOLS[forced_tool].is_available()
        code = "tool_not_configured" if is_missing else "tool_unknown"
        raise ModelFailed(code, f"{forced_tool} is not offered to {run.model}")
    project = _load_project_and_branch(turn_context, rows)
    branch = project.branch
    brief = Brief(
        model=_limited(model, run, config),
        entries=branch.entries,
        prompt_parts=_prompt_parts(turn_context, project, model.source),
        context_window=config.context_window,
        max_cycles=settings.MAX_LLM_CYCLES,
        tokenizer=config.tokenizer,
        token_factor=config.estimate_factor,
        tools=tools,
        left_out_tools=turn_context.left_out,
        tools_needing_approval=_find_tools_needing_approval(run.turn.session_id, tools),
        forced_tool="" if run.continuations else forced_tool,
        must_call=required == ANY and not run.continuations,
        given_rounds=run.turn.given_rounds,
        reminder=turn_context.reminder,
        options=run.options,
        cache_key=str(run.turn.session_id),
        documents=[*project.documents, *(file.document for entry in branch.entries for file in entry.files)],
        highest_number=project.highest_number,
        earlier=_earlier(run),
    )
    if config.supports_tools and not run.is_restricted:
        brief = offer_reading(
            brief, lambda tools: turn_context.system_prompts(has_documents=True, tools=tools).system
        )
    return replace(brief, setup=describe_setup(run, brief, turn_context))


def _load_project_and_branch(turn_context: TurnContext, rows: PreloadedRows | None) -> ProjectContext:
    run = turn_context.run
    stores_blocks = stores_prompt_blocks(run.turn.session.agent)
    branch = load_branch(
        run.turn.user_message_id,
        rows.messages if rows else None,
        lambda: turn_context.model_window,
        sees_images=turn_context.config.supports_vision,
    )
    if not stores_blocks:
        branch = branch.without_blocks()  # stored for a previous agent of the session
    context = build_project_context(run, turn_context.project, branch, in_the_branch=stores_blocks)
    return context.with_note(NOT_SHOWN) if turn_context.hides_project else context


def _limited(model: Model, run: Run, config: ModelConfig) -> Model:
    """Return the model with the output limit of the run. Raises ModelFailed for options it no longer supports."""
    refused = [name for name in run.options if name in config.refused_options]
    limit = run.options.get("max_output_tokens")
    if limit and limit > config.most_output_tokens:
        refused.append("max_output_tokens")
    if refused:
        raise ModelFailed(
            "option_unsupported", f"{run.model} does not support {refused[0]}", option=refused[0]
        )
    return replace(model, max_output_tokens=limit) if limit else model


def load_opening(run: Run) -> Snapshot | None:
    """Load a snapshot of the answer that this attempt continues, to open its packet log; None if it starts over."""
    if run.attempt == 1 or not run.message.text.strip():
        return None
    return load_saved_answer(run) if _continues_text(run, load_rounds(run.pk)) else None


def load_saved_answer(run: Run) -> Snapshot:
    """Return a snapshot of everything that earlier attempts have saved."""
    message = run.message
    left = present_live_message(message) | {"text": message.text}
    left.pop("cursor", None)
    left.pop("reasoning", None)
    if message.reasoning:
        left["reasoning"] = message.reasoning
    return Snapshot(str(run.pk), run.attempt, 0, left)


def load_saved_answer_and_citations(run: Run) -> tuple[Snapshot, list[Document], EarlierProgress]:
    """Load the saved answer, the documents that its text links to, and what earlier attempts used."""
    return load_saved_answer(run), load_cited(run), load_counts(run)


def load_counts(run: Run) -> EarlierProgress:
    spent = (f"spent_{name}" for name in RunSpending._fields)
    columns = (*TokenUsage._fields, *spent, "cycles", "finish_reason", "finish_tokens")
    row = Run.objects.only(*columns).get(pk=run.pk)
    return EarlierProgress(usage=row.usage, cycles=row.cycles, spent=row.spending, finish=row.finish)


def _prompt_parts(turn_context: TurnContext, project: ProjectContext, source: str) -> PromptParts:
    session, branch = turn_context.run.turn.session, project.branch
    agent = session.agent if session.agent_id else None
    prompts = turn_context.system_prompts(
        has_documents=bool(project.documents or branch.summarised_files)
        or any(entry.files for entry in branch.entries)
    )
    return PromptParts(
        system=prompts.system,
        summary=SUMMARY.format(text=branch.summary.text) if branch.summary else "",
        summary_id=str(branch.summary.id) if branch.summary else "",
        summary_tokens=branch.summary.token_count + SUMMARY_TOKENS if branch.summary else 0,
        agent_prompt="" if _is_stored("CA", agent, branch) else prompts.agent_prompt,
        project=project.text,
        project_tokens=project.tokens,
        project_note=project.note,
        project_pictures=project.pictures,
        dynamic_context=turn_context.dynamic_context,
        summarised_files=tuple(branch.summarised_files),
        sees_images=turn_context.config.supports_vision,
        source=source,
    )


def _is_stored(kind: BlockKind, agent: Agent | None, branch: Branch) -> bool:
    """Return whether a block of this kind is stored in the branch, as with the append-only layout."""
    return stores_prompt_blocks(agent) and any(
        block.kind == kind for entry in branch.entries for block in entry.blocks
    )


def _continues_text(run: Run, rounds: Sequence[ShownRound]) -> bool:
    """Return whether this attempt goes on from the text of earlier ones, instead of from their rounds alone.

    A text that was cut off needs a model that continues it; one that the model wrote after calls that wait is whole.
    """
    if run.continuations or (run.model_config and run.model_config.supports_prefill):
        return bool(run.message.text.strip())
    return bool(rounds) and not is_finished(rounds[-1]) and bool(_text_after(run, rounds))


def _text_after(run: Run, rounds: Sequence[ShownRound]) -> str:
    return run.message.text[sum(len(each.text_before) for each in rounds) :]


def _earlier(run: Run) -> EarlierProgress:
    if run.attempt == 1 and not run.turn.given_rounds:
        return EarlierProgress()
    rounds = load_rounds(run.pk, to_resume=True)
    if run.attempt == 1:
        return EarlierProgress(rounds)
    counts = load_counts(run) if rounds or run.continuations else EarlierProgress()
    if not _continues_text(run, rounds):
        return replace(counts, rounds=rounds)
    text = _text_after(run, rounds)
    has_all = not rounds or is_finished(rounds[-1])
    return replace(
        counts,
        rounds=rounds,
        text=text if has_all else "",
        after_calls=NOTHING_WRITTEN if has_all else Utterance(text, run.message.reasoning),
        reasoning=run.message.reasoning if has_all else "",
        is_shown=True,
        is_continued=run.continuations > 0,
    )


def _find_tools_needing_approval(session: UUID, tools: Sequence[Tool]) -> Mapping[str, str]:
    """Find tools that need approval, and that the user has not approved for the whole session (needed_approvals)."""
    if not tools:
        return {}
    tools = [tool for tool in tools if not tool.is_callers]
    policies = ToolPolicy.objects.by_name(tool.name for tool in tools)

    def rule_of(tool: Tool) -> ApprovalRule:
        policy = policies.get(tool.name)
        return policy.rule_for(tool.server, tool.approval_rule) if policy else tool.approval_rule

    asking = [tool for tool in tools if rule_of(tool).needs_approval(tool.annotations)]
    return needed_approvals(asking, Approval.objects.remembered(session)) if asking else {}


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
    # Versions outlive accounts: they have nothing of a caller.
    tools = [tool for tool in brief.tools if not tool.is_callers]
    replaces = definition["replaces_system_prompt"]
    foundation = definition["base_prompt"] or definition["prompt"]
    return {
        "system": foundation if replaces else add_guidance(foundation, tools, cites=False),
        "citations": "" if replaces else prompt("citations"),
        "tool_schemas": tool_schemas(tools),
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


def offer_reading(brief: Brief, system_with: Callable[[Sequence[Tool]], str]) -> Brief:
    """Add read_file to the brief if a file is left out, or was before. system_with: returns the prompt for these tools.

    The tool stays for the rest of the conversation once it was called: its calls are part of the history.
    """
    if READ_FILE in brief.tools:  # offered already, since the project is left out
        return replace(brief, prompt_parts=replace(brief.prompt_parts, reads_files=True))
    if any(tool.name == READ_FILE.name for tool in brief.tools):  # a function of the caller
        return brief
    if not (brief.prompt_parts.summarised_files or _has_read(brief) or _omits_files(brief)):
        return brief
    tools = sorted([*brief.tools, READ_FILE], key=lambda tool: tool.name)
    parts = replace(brief.prompt_parts, system=system_with(tools), reads_files=True)
    reading = replace(brief, tools=tools, prompt_parts=parts)
    return reading if _fits(reading) else brief


def _has_read(brief: Brief) -> bool:
    before = (call.name for entry in brief.entries for each in entry.rounds for call in each.calls)
    now = (call.name for each in brief.earlier.rounds for call in each.calls)
    return READ_FILE.name in {*before, *now}


def _omits_files(brief: Brief) -> bool:
    if not any(entry.files for entry in brief.entries[:-1]):
        return False
    try:
        return bool(_first_cycle(brief).report.context.omitted_files)
    except ModelFailed:
        return False  # the loop meets this error again


def _fits(brief: Brief) -> bool:
    """Return whether the question still fits beside the tool's description."""
    try:
        _first_cycle(brief)
    except ModelFailed:
        return False
    return True


def _first_cycle(brief: Brief) -> Cycle:
    return build_cycle(brief, (), Allowance().open_loop(is_outermost=True))
