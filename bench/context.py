"""Measurements of context assembly for branches of different lengths: `python -m bench.context`.

They are pure computation without services or network. They measure processor time, so other load on the machine matters
little. The goal is 20 ms for 1,000 messages.
"""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from chat.transcript.entries import Call, Entry, Round
from chat.transcript.tokens import count_tokens
from llm_worker.request.api_messages import to_api_messages
from llm_worker.request.context import Budget, build_context
from llm_worker.request.model_message import LanguageModelInput
from llm_worker.request.prefix import message_digests
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.request.token_counters import estimate_tokens

LENGTHS = (10, 100, 1_000, 10_000)
GOAL_LENGTH, GOAL_MS = 1_000, 20.0
REPEATS = 15
STARTED_AT = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = "What does the contract say about the notice period, and since when? " * 4
ANSWER = "It says three months to the end of a quarter; see section 4, second paragraph. " * 15
PROMPT_PARTS = PromptParts(
    system="You are a careful assistant. " * 250, agent_prompt="Cite your sources. " * 30, dynamic_context="Known: it. " * 50
)  # fmt: skip


def create_branch(messages: int, *, with_tools: bool) -> list[Entry]:
    """Create a branch that ends with a user message, with token counts as stored in rows. Oldest first."""
    tokens = count_tokens(QUESTION), count_tokens(ANSWER)
    entries = []
    for number in range(messages | 1):
        is_answer = number % 2
        rounds_of_entry = (_create_round(number),) if is_answer and with_tools else ()
        entries.append(
            Entry(
                str(number),
                "assistant" if is_answer else "user",
                ANSWER if is_answer else QUESTION,
                STARTED_AT + timedelta(minutes=number),
                tokens[is_answer],
                rounds=rounds_of_entry,
            )
        )
    return entries


def _create_round(number: int) -> Round:
    arguments = {"query": "notice period of the contract", "page": number}
    return Round((Call(f"call-{number}", "web_search", arguments, "a page of text", 14),))


def measure_median_ms(function: Callable[[], object]) -> float:
    times_ms = []
    for _ in range(REPEATS):
        began = time.thread_time()
        function()
        times_ms.append((time.thread_time() - began) * 1000)
    return statistics.median(times_ms)


def build_messages(entries: list[Entry]) -> LanguageModelInput:
    return build_context(
        entries, PROMPT_PARTS, budget=Budget(10**8, 8_192), tokens_of=estimate_tokens
    ).messages


def main() -> None:
    print(f"{'messages':>9} {'tools':>6} {'build ms':>9} {'wire ms':>8} {'digests ms':>11}")
    for length in LENGTHS:
        for with_tools in (False, True):
            entries = create_branch(length, with_tools=with_tools)
            messages = build_messages(entries)
            build_ms = measure_median_ms(lambda entries=entries: build_messages(entries))
            wire_ms = measure_median_ms(lambda messages=messages: to_api_messages(messages))
            digests_ms = measure_median_ms(lambda messages=messages: message_digests(messages))
            misses_goal = length == GOAL_LENGTH and build_ms > GOAL_MS
            note = f"  goal: {GOAL_MS:g} ms" if misses_goal else ""
            print(
                f"{length:>9} {'yes' if with_tools else 'no':>6} {build_ms:>9.2f} {wire_ms:>8.2f} {digests_ms:>11.2f}{note}"
            )


if __name__ == "__main__":
    main()
