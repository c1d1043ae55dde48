"""`python -m bench.context`: how long it takes to choose what a model sees, for branches of different lengths.

Pure computation: no services, no network; processor time, so that a busy machine says the same. The goal is 20 ms for
1,000 messages.
"""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from chat.transcript.entries import Call, Entry, Round
from chat.transcript.tokens import count_tokens
from llm_worker.request.api_messages import to_api_messages
from llm_worker.request.context import Budget, build_context
from llm_worker.request.message import LanguageModelInput
from llm_worker.request.prefix import message_digests
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.request.tokens import estimate_tokens

LENGTHS = (10, 100, 1_000, 10_000)
GOAL_LENGTH, GOAL_MS = 1_000, 20.0
REPEATS = 15
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = "What does the contract say about the notice period, and since when? " * 4
ANSWER = "It says three months to the end of a quarter; see section 4, second paragraph. " * 15
FRAMING = PromptParts(
    system="You are a careful assistant. " * 250, agent_prompt="Cite your sources. " * 30, dynamic_context="Known: it. " * 50
)  # fmt: skip


def branch(messages: int, *, with_tools: bool) -> list[Entry]:
    """Ends with a user message; stored counts as rows have them."""
    tokens = count_tokens(QUESTION), count_tokens(ANSWER)
    made = []
    for number in range(messages | 1):
        is_answer = number % 2
        called = (_round(number),) if is_answer and with_tools else ()
        made.append(
            Entry(
                str(number),
                "assistant" if is_answer else "user",
                ANSWER if is_answer else QUESTION,
                BEGAN + timedelta(minutes=number),
                tokens[is_answer],
                rounds=called,
            )
        )
    return made


def _round(number: int) -> Round:
    arguments = {"query": "notice period of the contract", "page": number}
    return Round((Call(f"call-{number}", "web_search", arguments, "a page of text", 14),))


def median_ms(work: Callable[[], object]) -> float:
    times_ms = []
    for _ in range(REPEATS):
        began = time.thread_time()
        work()
        times_ms.append((time.thread_time() - began) * 1000)
    return statistics.median(times_ms)


def build(entries: list[Entry]) -> LanguageModelInput:
    return build_context(entries, FRAMING, budget=Budget(10**8, 8_192), tokens_of=estimate_tokens).messages


def main() -> None:
    print(f"{'messages':>9} {'tools':>6} {'build ms':>9} {'wire ms':>8} {'message_digests ms':>11}")
    for length in LENGTHS:
        for with_tools in (False, True):
            entries = branch(length, with_tools=with_tools)
            messages = build(entries)
            build_ms = median_ms(lambda entries=entries: build(entries))
            wire_ms = median_ms(lambda messages=messages: to_api_messages(messages))
            digests_ms = median_ms(lambda messages=messages: message_digests(messages))
            missed = length == GOAL_LENGTH and build_ms > GOAL_MS
            note = f"  goal: {GOAL_MS:g} ms" if missed else ""
            print(
                f"{length:>9} {'yes' if with_tools else 'no':>6} {build_ms:>9.2f} {wire_ms:>8.2f} {digests_ms:>11.2f}{note}"
            )


if __name__ == "__main__":
    main()
