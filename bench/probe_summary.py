"""Measures what a stored summary has lost: `python -m bench.probe_summary ID`, with the environment of the instance.

A model answers questions about the summarised messages twice: from their full text, and from the summary. Prints each pair and the
share of questions that are answered the same; stores nothing.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from uuid import UUID

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Q

from bench.loss_probe import LossProbe, ProbeAnswer, run_probe, share_of_same_answers
from chat.models import ChatMessage, Compression, ModelConfig
from chat.transcript.entries import Entry
from compression.prompt import to_messages
from llm_worker.loading.turn_context import budget_of
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.token_counters import estimate_tokens, exact_counter
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model
from llm_worker.upstream.llm import LanguageModels


class ProbeRefused(Exception):
    """Why no summary was measured, for whoever asked."""


def probe_summary(pk: str, *, questions: int = 10, model: str | None = None) -> Iterator[str]:
    """Yield the lines of the report. pk: of a summary or of its compression. model: by default the one that answered in the chat.

    Raises ProbeRefused.
    """
    compression = _compression(pk)
    probe = _load_probe(compression, _model(model or compression.model))
    try:
        answers = asyncio.run(_run(probe, max(1, questions)))
    except ModelFailed as failure:
        raise ProbeRefused(f"{probe.model.name}: {failure}") from failure
    if not answers:
        raise ProbeRefused(f"{probe.model.name} had no questions.")
    for answer in answers:
        yield f"{'=' if answer.is_same else '≠'} {answer.question}"
        yield f"    text: {answer.with_text}\n    summary: {answer.with_summary}"
    yield f"{share_of_same_answers(answers):.2f} of {len(answers)} answers are the same."


def _compression(pk: str) -> Compression:
    try:
        found = Compression.objects.filter(Q(pk=pk) | Q(summary=pk), summary__isnull=False)
        compression = found.select_related("summary").first()
    except ValidationError:
        compression = None
    if compression is None:
        raise ProbeRefused(f"{pk} is neither a summary nor a compression that has made one.")
    return compression


def _model(name: str) -> ModelConfig:
    config = ModelConfig.objects.filter(name=name).first()
    if config is None:
        raise ProbeRefused(f"There is no model {name}.")
    return config


def _load_probe(compression: Compression, config: ModelConfig) -> LossProbe:
    model, summary = resolve_model(config), compression.summary
    if model is None or summary is None or summary.last_summarized_message_id is None:
        raise ProbeRefused("That model has no address, or the messages are gone.")
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
        Entry(
            str(message.pk), "user" if message.role == "user" else "assistant", message.text, message.sent_at
        )
        for message in rows
    ]


async def _run(probe: LossProbe, count: int) -> list[ProbeAnswer]:
    models = LanguageModels(connections=2, silence_s=settings.LLM_SILENCE_S)
    try:
        return await run_probe(probe, count, models)
    finally:
        await models.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("id", help="id of a summary or of its compression")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument(
        "--model", help="name of the model to ask; default: the model that answers in the chat"
    )
    arguments = parser.parse_args()
    try:
        for line in probe_summary(arguments.id, questions=arguments.questions, model=arguments.model):
            print(line)
    except ProbeRefused as refusal:
        sys.exit(str(refusal))


if __name__ == "__main__":
    main()
