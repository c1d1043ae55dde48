"""Counts the tokens that a response would read: its turn is started, measured by its rows, and taken back."""

from django.db import transaction
from django.db.models import F, Q
from msgspec import json, to_builtins

from chat.compressions.summaries import find_summary_for_branch
from chat.models import ChatMessage, Run, ToolCall, Turn
from chat.models.sql.message_sizes import SIZES
from chat.models.sql.model_configs import STANDING_PROMPTS
from chat.models.tool_call import ToolCallStatus
from chat.prompts.definition import base_prompt_of
from chat.protocol.errors import ApiError
from chat.transcript.caller_tools import CallerTools
from chat.transcript.tokens import TOKENS_PER_MESSAGE, count_tokens
from features.openai.authentication import Caller
from features.openai.response_body import OpenAIResponseBody
from features.openai.responses import start_response


def count_input(caller: Caller, body: OpenAIResponseBody) -> int:
    """Return the tokens of the first request that the model would get, as its server counts them or as estimated.

    Raises ApiError where the response would not begin. Nothing is stored.
    """
    if body.inline_files:
        message = "A file in the request is read for an answer alone. Upload it, and name it by file_id."
        raise ApiError("invalid_value", message, field="input")
    with transaction.atomic():
        tokens = _count(start_response(caller, body).run)
        transaction.set_rollback(True)
    return tokens


def _count(run: Run) -> int:
    config = run.model_config
    factor = config.estimate_factor if config else 1.0
    functions = _count_functions(run.turn)
    question = run.turn.user_message
    measured = Run.objects.filter(model_config=config, context_usage__isnull=False).select_related("turn")
    same_chat = Q(message=question.parent_id) | Q(turn__user_message=question)
    # The worker knows the tools of an agent and what prompts say of them: it has counted both.
    before = measured.filter(same_chat).order_by("-created_at").first()
    if before and (usage := before.context_usage):
        around: int = usage["system"] + usage["tools"] - round(factor * _count_functions(before.turn))
    else:
        around = round(factor * _count_prompts(run))
    return around + round(factor * (functions + _count_message(run.dynamic_context) + _count_branch(run)))


def _count_prompts(run: Run) -> int:
    session = run.turn.session
    [standing] = STANDING_PROMPTS.all(owner=session.owner_id)
    replaces = session.agent is not None and session.agent.replaces_system_prompt
    base = "" if replaces else base_prompt_of(standing.edited)
    texts = (base, session.own_prompt(), standing.instructions, session.own_reminder)
    return sum(map(_count_message, texts))


def _count_branch(run: Run) -> int:
    """Count the question with what precedes it, and the rounds that the answer begins with."""
    question = run.turn.user_message
    # An answer without rounds is no message yet.
    sizes = [
        size for size in SIZES.all(leaf=run.message_id) if size.depth or size.tokens > TOKENS_PER_MESSAGE
    ]
    tokens = 0
    branch = [*ChatMessage.objects.branch_to(run.message_id).values_list("pk", flat=True)]
    if summary := find_summary_for_branch(question, run.model_config):
        sizes = [size for size in sizes if size.depth < branch[::-1].index(summary.cutoff)]
        tokens = summary.token_count + TOKENS_PER_MESSAGE
    sees_images = bool(run.model_config and run.model_config.supports_vision)
    tokens += sum(size.tokens + size.image_tokens * sees_images for size in sizes)
    # Of other calls, later turns do not show the responses.
    is_callers = Q(turn_number__lt=F("run__turn__given_rounds")) | Q(status=ToolCallStatus.PENDING)
    read_calls = ToolCall.objects.filter(Q(run=run) | is_callers, message__in=branch)
    return tokens + sum(map(count_tokens, read_calls.values_list("response", flat=True)))


def _count_functions(turn: Turn) -> int:
    functions = CallerTools.from_json(turn.caller_tools).functions
    return count_tokens(json.encode(to_builtins(functions)).decode()) if functions else 0


def _count_message(text: str) -> int:
    return count_tokens(text) + TOKENS_PER_MESSAGE if text else 0
