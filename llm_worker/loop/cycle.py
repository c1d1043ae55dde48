"""Builds the request of each inference of a loop, from the brief and the rounds so far. Pure."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from chat.transcript.entries import Round
from chat.transcript.readable_text import without_break
from chat.transcript.tokens import count_tokens
from llm_worker.loop.allowance import LoopShare, TokenNeed
from llm_worker.loop.brief import Brief, EarlierProgress
from llm_worker.loop.context_report import ContextReport
from llm_worker.prompts import prompt
from llm_worker.request.context import Context, ContextTooLong, build_context
from llm_worker.request.model_message import Message
from llm_worker.request.prompt_parts import build_reminder
from llm_worker.request.token_counters import estimate_tokens, exact_counter
from llm_worker.tools.tool import Tool, callers_names, schema_tokens, tool_schemas
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request, ToolChoice


@dataclass(frozen=True)
class Cycle:
    """One inference. tools: the tools that its answer may call; none in the last cycle of a loop.

    report: how its context was built.  need: the tokens it is expected to take.
    is_last: no inference follows, whatever this one asks for.
    """

    request: Request
    tools: Sequence[Tool]
    report: ContextReport
    need: TokenNeed
    is_last: bool = False


def build_cycle(brief: Brief, rounds: Sequence[Round], share: LoopShare, *, has_found: bool = False) -> Cycle:
    """Build the cycle after these rounds. Raises ModelFailed if no request can be built.

    share: the share of the loop in what the run may still use.  has_found: whether tools have found documents in this
    loop, or in a loop inside it.
    """
    is_last = len(rounds) - brief.given_rounds + 1 >= brief.max_cycles or share.has_one_inference
    cycle = _build(brief, rounds, is_last=is_last, has_found=has_found)
    if not is_last and share.has_tokens_for_one(cycle.need):
        cycle = _build(brief, rounds, is_last=True, has_found=has_found)
    if brief.earlier.text and len(rounds) == len(brief.earlier.rounds):
        return replace(cycle, request=_continued(cycle.request, brief.earlier))
    return cycle


def _build(brief: Brief, rounds: Sequence[Round], *, is_last: bool, has_found: bool) -> Cycle:
    is_first = len(rounds) == brief.given_rounds
    is_forced = bool(brief.forced_tool or brief.must_call) and is_first and not is_last
    forced = brief.forced_tool if is_forced else ""
    tools = [tool for tool in brief.tools if not forced or tool.name == forced]
    if is_forced and not tools:
        raise ModelFailed("tool_unknown", f"{brief.forced_tool} is not offered")
    choice: ToolChoice = "required" if is_forced else "none" if is_last else "auto"
    if is_last and not brief.model.takes_tool_choice_none:
        tools = []
    called_names = {call.name for earlier_round in rounds for call in earlier_round.calls}
    reminder = build_reminder(
        brief.reminder,
        is_last_cycle=is_last and bool(brief.tools),
        has_found=has_found,
        # The web was searched in this loop, and a tool can open the results.
        may_open_pages=any(tool.finds_pages and tool.name in called_names for tool in tools)
        and any(tool.opens_pages for tool in tools),
    )
    context = _with_summary_or_without(brief, rounds, reminder)
    request = Request(
        brief.model,
        context.messages,
        cache_key=brief.cache_key,
        tools=tool_schemas(tools),
        callers=callers_names(tools),
        tool_choice=choice,
        options=brief.options,
    )
    report = ContextReport(context, brief, tools, choice)
    sent = (context.tokens + schema_tokens(brief.tools)) * brief.token_factor
    need = TokenNeed(int(sent), brief.answer_reserve, brief.model.max_output_tokens, brief.context_window)
    return Cycle(request, [] if is_last else tools, report, need, is_last)


def _continued(request: Request, earlier: EarlierProgress) -> Request:
    """Build the request for what follows the text of earlier attempts.

    That text counts as output unless the user continues it.
    """
    limit = request.model.max_output_tokens
    if limit and not earlier.is_continued:
        limit = max(1, limit - count_tokens(earlier.text))
    begun = [*request.messages, Message("A", without_break(earlier.text))]
    if earlier.is_continued and not request.model.takes_prefill:
        begun.append(Message("R", prompt("go_on")))
    return replace(request, model=replace(request.model, max_output_tokens=limit), messages=begun)


def _with_summary_or_without(brief: Brief, rounds: Sequence[Round], text: str) -> Context:
    """Build the context; drop the summary if it leaves no room: it may have been written for a larger window."""
    try:
        return _fitting(brief, rounds, text)
    except ModelFailed:
        if not brief.prompt_parts.summary:
            raise
        bare = replace(brief.prompt_parts, summary="", summary_tokens=0)
        return _fitting(replace(brief, prompt_parts=bare), rounds, text)


def _fitting(brief: Brief, rounds: Sequence[Round], text: str) -> Context:
    """Build the context by the stored token counts; close to the budget, by the model's own encoding."""
    build = partial(
        build_context,
        brief.entries,
        replace(brief.prompt_parts, reminder=text),
        rounds=rounds,
        # Always with all tools, so that every cycle of the turn keeps the same history.
        budget=brief.budget,
    )
    exact = exact_counter(brief.tokenizer)
    try:
        if exact is None:
            return build(tokens_of=estimate_tokens)
        with suppress(ContextTooLong):
            context = build(tokens_of=estimate_tokens)
            if not context.is_tight:
                return context
        return build(tokens_of=exact)
    except ContextTooLong as error:
        raise _too_long(brief, error) from error


def _too_long(brief: Brief, error: ContextTooLong) -> ModelFailed:
    """Return the failure that names the largest part: tools, prompts, or the conversation."""
    parts = brief.prompt_parts
    tokens = {
        "context_too_long": error.tokens,
        "prompt_too_long": sum(estimate_tokens(text, 0) for text in (parts.system, parts.agent_prompt)),
        "tools_too_long": schema_tokens(brief.tools),
    }
    tokens["context_too_long"] -= tokens["prompt_too_long"]
    return ModelFailed(max(tokens, key=lambda code: tokens[code]), f"{error}; {tokens}")
