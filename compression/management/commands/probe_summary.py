"""manage.py probe_summary ID: measures the information that a summary has lost, and stores the share of same answers.

A model answers questions about the summarised messages twice: from their full text, and from the summary.
"""

import asyncio
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from chat.models import ChatMessage, Compression, ModelConfig
from chat.transcript.entries import Entry
from compression.loss_probe import LossProbe, ProbeAnswer, run_probe, share_of_same_answers
from compression.prompt import to_messages
from llm_worker.loading.model_budget import budget_of
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.tokens import estimate_tokens, exact_counter
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.llm import LanguageModels


class Command(BaseCommand):
    help = "Measures how much information a summary has lost."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="id of a summary or of its compression")
        parser.add_argument("--questions", type=int, default=10)
        parser.add_argument(
            "--model", help="name of the model to ask; default: the model that answers in the session"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        compression = _compression(options["id"])
        probe = _load_probe(compression, _model(options["model"] or compression.model))
        try:
            answers = asyncio.run(_run(probe, max(1, options["questions"])))
        except ModelFailed as failure:
            raise CommandError(f"{probe.model.name}: {failure}") from failure
        if not answers:
            raise CommandError(f"{probe.model.name} had no questions.")
        for answer in answers:
            self.stdout.write(f"{'=' if answer.is_same else '≠'} {answer.question}")
            self.stdout.write(f"    text: {answer.with_text}\n    summary: {answer.with_summary}")
        score = share_of_same_answers(answers)
        compression.record_probe(score)
        self.stdout.write(f"{score:.2f} of {len(answers)} answers are the same.")


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


def _load_probe(compression: Compression, config: ModelConfig) -> LossProbe:
    model, summary = resolve_model(config), compression.summary
    if model is None or summary is None or summary.last_summarized_message_id is None:
        raise CommandError("That model has no address, or the messages are gone.")
    tokens_of = exact_counter(config.tokenizer) or estimate_tokens
    return LossProbe(
        model=model,
        covered=to_messages(_covered(summary.last_summarized_message_id), MessageRenderer(tokens_of)),
        summary=summary.text,
        budget=budget_of(config).tokens,
        tokens_of=tokens_of,
    )


def _covered(cutoff: UUID) -> list[Entry]:
    """Load the messages from the root to the cutoff, texts only."""
    rows = ChatMessage.objects.branch_to(cutoff).replies()
    return [
        Entry(str(one.pk), "user" if one.role == "user" else "assistant", one.text, one.sent_at)
        for one in rows
    ]


async def _run(probe: LossProbe, count: int) -> list[ProbeAnswer]:
    models = LanguageModels(connections=2, silence_s=settings.LLM_SILENCE_S)
    try:
        return await run_probe(probe, count, models)
    finally:
        await models.close()
