"""manage.py probe_summary ID: asks a model about what a summary stands for, with the full text and with the summary
alone, and stores the share of equal answers.
"""

import asyncio
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from chat.models import ChatMessage, Compression, ModelConfig
from chat.transcript.entries import Entry
from compression.loss_probe import Answered, Probe, probe, share_of_equal
from compression.prompt import said
from llm_worker.request.context import request_budget
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.tokens import estimate_tokens, exact_counter
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.llm import LanguageModels


class Command(BaseCommand):
    help = "Measures what a summary has lost."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="of a summary, or of the compression that made it")
        parser.add_argument("--questions", type=int, default=10)
        parser.add_argument("--model", help="that is asked; by default the one that answers in the session")

    def handle(self, *_args: Any, **options: Any) -> None:
        compression = _compression(options["id"])
        given = _probe(compression, _model(options["model"] or compression.model))
        try:
            answered = asyncio.run(_ask(given, max(1, options["questions"])))
        except ModelFailed as failure:
            raise CommandError(f"{given.model.name}: {failure}") from failure
        if not answered:
            raise CommandError(f"{given.model.name} had no questions.")
        for one in answered:
            self.stdout.write(f"{'=' if one.is_same else '≠'} {one.question}")
            self.stdout.write(f"    text: {one.with_text}\n    summary: {one.with_summary}")
        score = share_of_equal(answered)
        compression.probed(score)
        self.stdout.write(f"{score:.2f} of {len(answered)} answers are the same.")


def _compression(pk: str) -> Compression:
    try:
        found = Compression.objects.filter(Q(pk=pk) | Q(summary=pk), summary__isnull=False)
        compression = found.select_related("summary").first()
    except ValidationError:
        compression = None
    if compression is None:
        raise CommandError(f"{pk} is neither a summary nor a compression that has made one.")
    return compression


def _model(name: str) -> ModelConfig:
    config = ModelConfig.objects.filter(name=name).first()
    if config is None:
        raise CommandError(f"There is no model {name}.")
    return config


def _probe(compression: Compression, config: ModelConfig) -> Probe:
    model, summary = resolve_model(config), compression.summary
    if model is None or summary is None or summary.last_summarized_message_id is None:
        raise CommandError("That model has no address, or the messages are gone.")
    tokens_of = exact_counter(config.tokenizer) or estimate_tokens
    return Probe(
        model=model,
        said=said(_covered(summary.last_summarized_message_id), MessageRenderer(tokens_of)),
        summary=summary.text,
        budget=request_budget(config.context_window, model.max_output_tokens).tokens,
        tokens_of=tokens_of,
    )


def _covered(cutoff: Any) -> list[Entry]:
    """From the root on, whatever earlier summaries stand for; the texts alone."""
    rows = ChatMessage.objects.branch_to(cutoff).replies()
    return [
        Entry(str(one.pk), "user" if one.role == "user" else "assistant", one.text, one.sent_at)
        for one in rows
    ]


async def _ask(given: Probe, count: int) -> list[Answered]:
    models = LanguageModels(connections=2, silence_s=settings.LLM_SILENCE_S)
    try:
        return await probe(given, count, models)
    finally:
        await models.close()
