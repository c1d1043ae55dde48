"""From rows to one Request: the last place that sees rows before the loop."""

import os
from contextlib import suppress
from functools import partial
from typing import cast

from django.conf import settings

from chat.models import ChatMessage, ModelConfig, Run, SystemPrompt
from chat.prompts import default_system_prompt
from chat.transcript import Entry, EntryRole
from llm_worker.context import Context, ContextTooLong, Framing, build_context, request_budget, system_prompt
from llm_worker.deltas import ModelFailed
from llm_worker.llm import Model, Request
from llm_worker.tokens import estimate, exactly


def prepare(run: Run) -> Request:
    """What `run` asks its model. Reads the database. Raises ModelFailed if nothing can be asked."""
    config = run.model_config
    if config is None or not (config.base_url or settings.LLM_BASE_URL):
        raise ModelFailed("model_not_configured", f"{run.model} has no configuration or no address")
    try:
        context = _fit(config, load_branch(run), _framing(run))
    except ContextTooLong as error:
        raise ModelFailed("context_too_long", str(error)) from error
    return Request(_model(config), context.messages, cache_key=str(run.turn.session_id))


def load_branch(run: Run) -> list[Entry]:
    """The replies from the root to the message that is being answered, oldest first."""
    rows = ChatMessage.objects.branch_to(run.turn.user_message_id).replies()
    fields = rows.values_list("id", "role", "text", "sent_at", "token_count")
    return [
        Entry(str(pk), cast("EntryRole", role), text, sent_at, tokens)
        for pk, role, text, sent_at, tokens in fields
    ]


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
        budget_tokens=request_budget(config.context_window, config.max_output_tokens),
    )
    exact = exactly(config.tokenizer)
    if exact is None:
        return build(tokens_of=estimate)
    with suppress(ContextTooLong):
        context = build(tokens_of=estimate)
        if not context.is_tight:
            return context
    return build(tokens_of=exact)


def _model(config: ModelConfig) -> Model:
    return Model(
        name=config.name,
        base_url=config.base_url or settings.LLM_BASE_URL,
        # Not a setting: which variable holds the key is data, so that a new model needs no release.
        api_key=os.environ.get(config.api_key_env, ""),
        max_output_tokens=config.max_output_tokens,
        takes_prompt_cache_key=config.supports_prompt_cache_key,
    )
