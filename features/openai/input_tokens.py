"""Counts the tokens that a response would read: its turn is started, measured by its rows, and taken back."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from msgspec import json, to_builtins

from chat.compressions.summaries import find_summary_for_branch
from chat.models import ChatMessage, Run, ToolCall, Turn
from chat.models.sql.messages import SIZES
from chat.models.sql.model_configs import STANDING_PROMPTS
from chat.models.tool_call import ToolCallStatus
from chat.prompts.definition import base_prompt_of
from chat.protocol.errors import ApiError
from chat.transcript.tokens import OMITTED_RESPONSE_TOKENS, TOKENS_PER_MESSAGE, count_tokens
from chat.transcript.waits import CallerTools
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
        texts = _load(start_response(caller, body).run)
        transaction.set_rollback(True)
    # Long texts take a while: nothing is locked any more.
    return texts.measure()


class _InputTexts(NamedTuple):
    """What a response would read. factor: the server's count of a text divided by ours.

    measured: tokens that the server has counted.  stored: tokens by stored counts.  messages: those without a count.
    outputs: of calls.  functions: as JSON; measured_functions: those that are in `measured`.
    """

    factor: float
    measured: int
    stored: int
    messages: Sequence[str]
    outputs: Sequence[str]
    functions: str
    measured_functions: str = ""

    def measure(self) -> int:
        tokens = self.stored + sum(count_tokens(text) + TOKENS_PER_MESSAGE for text in self.messages if text)
        # By stored counts, a line stands for each of the outputs.
        tokens += sum(count_tokens(output) - OMITTED_RESPONSE_TOKENS for output in self.outputs)
        tokens += count_tokens(self.functions) - count_tokens(self.measured_functions)
        return self.measured + round(self.factor * tokens)


def _load(run: Run) -> _InputTexts:
    config = run.model_config
    # The worker knows the tools of an agent and what prompts say of them: it has counted both.
    before = _find_measured(run)
    # Which one is sent depends on the window, as the worker knows it: a long one has room for what is replaced here.
    summary = find_summary_for_branch(run.turn.user_message, config)
    branch = [*ChatMessage.objects.branch_to(run.message_id).values_list("pk", flat=True)][::-1]
    behind = branch[: branch.index(summary.cutoff)] if summary else branch
    texts = _InputTexts(
        config.estimate_factor if config else 1.0,
        0,
        _count_branch(run, len(behind)) + (summary.token_count + TOKENS_PER_MESSAGE if summary else 0),
        [run.dynamic_context],
        _load_outputs(run, behind),
        _encode_functions(run.turn),
    )
    if before and (usage := before.context_usage):
        measured = usage["system"] + usage["tools"]
        return texts._replace(measured=measured, measured_functions=_encode_functions(before.turn))
    return texts._replace(messages=[*texts.messages, *_load_prompts(run)])


def _find_measured(run: Run) -> Run | None:
    """Return the latest run of the model that has answered the question, or else what is before it, and was measured."""
    question = run.turn.user_message
    measured = Run.objects.filter(model_config=run.model_config, context_usage__isnull=False)
    measured = measured.select_related("turn")
    of_question = measured.filter(turn__in=[*question.turns.values_list("pk", flat=True)])
    return of_question.order_by("-created_at").first() or measured.filter(message=question.parent_id).first()


def _load_prompts(run: Run) -> Sequence[str]:
    session = run.turn.session
    [standing] = STANDING_PROMPTS.all(owner=session.owner_id)
    replaces = session.agent is not None and session.agent.replaces_system_prompt
    base = "" if replaces else base_prompt_of(standing.edited)
    return base, session.own_prompt(), standing.instructions, session.own_reminder


def _count_branch(run: Run, length: int) -> int:
    """Count this many messages: the question with what precedes it, and the rounds that the answer begins with."""
    sizes = [size for size in SIZES.all(leaf=run.message_id) if size.depth < length]
    sees_images = bool(run.model_config and run.model_config.supports_vision)
    tokens = sum(size.tokens + size.image_tokens * sees_images for size in sizes)
    # The answer is no message beside its rounds yet.
    return tokens - TOKENS_PER_MESSAGE


def _load_outputs(run: Run, messages: Sequence[UUID]) -> list[str]:
    """Load the responses of calls that the model reads. Of other calls, later turns do not show them."""
    is_callers = Q(turn_number__lt=F("run__turn__given_rounds")) | Q(status=ToolCallStatus.PENDING)
    read_calls = ToolCall.objects.filter(Q(run=run) | is_callers, message__in=messages)
    return [*read_calls.values_list("response", flat=True)]


def _encode_functions(turn: Turn) -> str:
    functions = CallerTools.from_json(turn.caller_tools).functions
    return json.encode(to_builtins(functions)).decode() if functions else ""
