"""From rows to one Request: the last place that sees rows before the loop."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from django.db import connection

from chat.models import ModelConfig, Run, SystemPrompt
from chat.prompts import default_system_prompt
from chat.protocol import Snapshot
from chat.shapes import message_shape
from chat.tokens import count_tokens
from chat.transcript import Entry
from llm_worker.context import (
    Context,
    ContextTooLong,
    build_context,
    request_budget,
    system_prompt,
)
from llm_worker.deltas import ModelFailed
from llm_worker.framing import Framing
from llm_worker.llm import Request
from llm_worker.message import Message
from llm_worker.served import model_of
from llm_worker.tokens import estimate, exactly

# ChatMessage.objects.branch_to without the ORM: every run asks this once, and building the query took ten
# times as long as running it.
BRANCH = """
    WITH RECURSIVE branch AS (
        SELECT id, parent_id, role, text, sent_at, token_count, 0 AS depth
        FROM chat_chatmessage WHERE id = %s
        UNION ALL
        SELECT above.id, above.parent_id, above.role, above.text, above.sent_at, above.token_count, depth + 1
        FROM chat_chatmessage AS above JOIN branch ON above.id = branch.parent_id
    )
    SELECT id, role, text, sent_at, token_count FROM branch
    WHERE role IN ('user', 'assistant') ORDER BY depth DESC
"""


def prepare(run: Run) -> Request:
    """What `run` asks its model. Reads the database. Raises ModelFailed if nothing can be asked."""
    config = run.model_config
    model = model_of(config) if config else None
    if config is None or model is None:
        raise ModelFailed("model_not_configured", f"{run.model} has no configuration or no address")
    try:
        context = _fit(config, load_branch(run), _framing(run))
    except ContextTooLong as error:
        raise ModelFailed("context_too_long", str(error)) from error
    request = Request(model, context.messages, cache_key=str(run.turn.session_id))
    return _continuing(request, run.message.text) if _goes_on(run) else request


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
    return Snapshot(str(run.pk), run.attempt, 0, kept)


def load_branch(run: Run) -> list[Entry]:
    """The replies from the root to the message that is being answered, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(BRANCH, [run.turn.user_message_id])
        return [Entry(str(pk), role, text, sent_at, tokens) for pk, role, text, sent_at, tokens in cursor]


def _framing(run: Run) -> Framing:
    edited = SystemPrompt.edited()
    base = default_system_prompt() if edited is None else edited
    return Framing(
        system=system_prompt(base, run.turn.session.created_at), dynamic_context=run.dynamic_context
    )


def _fit(config: ModelConfig, entries: list[Entry], framing: Framing) -> Context:
    """By the stored counts; where that is close, by the model's own encoding."""
    build = partial(
        build_context,
        entries,
        framing,
        budget=request_budget(config.context_window, config.max_output_tokens),
    )
    exact = exactly(config.tokenizer)
    if exact is None:
        return build(tokens_of=estimate)
    with suppress(ContextTooLong):
        context = build(tokens_of=estimate)
        if not context.is_tight:
            return context
    return build(tokens_of=exact)


def _goes_on(run: Run) -> bool:
    return may_go_on(run) and bool(run.message.text.strip())


def _continuing(request: Request, text: str) -> Request:
    """The partial answer stands last: the model goes on with it. It counts against what the answer may use."""
    left = request.model.max_output_tokens - count_tokens(text)
    return replace(
        request,
        model=replace(request.model, max_output_tokens=max(1, left)),
        messages=[*request.messages, Message("A", text)],
    )
