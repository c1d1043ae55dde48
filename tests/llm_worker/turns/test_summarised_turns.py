"""Turns of a branch with a summary: the summary replaces what it covers, and nothing is lost or repeated."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.compressions import summaries
from chat.models import ChatMessage, Compression, MessageFile, ModelConfig, PromptBlock, Role
from chat.models.sql.messages import SIZES
from chat.protocol.states import Status
from knowledge.models import File
from llm_worker.loading.branch import load_branch
from llm_worker.loading.branch_summaries import ModelWindow
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.prompt_parts import SUMMARY
from llm_worker.request.token_counters import estimate_tokens
from tests.factories import create_summary
from tests.llm_worker.outcomes import ended


def create_model(name, base_url):
    return ModelConfig.objects.create(
        name=name, base_url=base_url, context_window=3000, max_output_tokens=500
    )


@pytest.fixture
def talk(deliver, ask, upstream):
    """Turns in one session, each answered; returns the messages in order, root left out: u1 a1 u2 …"""

    def talk(turns, session=None):
        for turn in range(1, turns + 1):
            upstream.reply({"text": f"Answer {turn}"}, times=1)
            [run] = ask(f"Question {turn}", session=session)
            deliver(run).result()
            session = run.turn.session
            session.refresh_from_db()
        return session, list(ChatMessage.objects.branch_to(session.leaf_id))[1:]

    return talk


def shown(request):
    """What the model was sent, without the system prompt and the dates."""
    return [
        message["content"].partition("\n\n<sent_at>")[0]
        for message in request.messages
        if message["role"] != "system"
    ]


def test_the_next_request_holds_the_summary_and_what_came_after_its_cutoff(deliver, ask, upstream, talk):
    session, (_, _, _, a2, u3, _) = talk(3)
    create_summary(u3, a2, "They greeted.", 3)
    [run] = ask("And now?", session=session)
    deliver(run).result()
    assert shown(upstream.requests[-1]) == [
        SUMMARY.format(text="They greeted."),
        "Question 3",
        "Answer 3",
        "And now?",
    ]


def test_a_branch_forked_before_the_summarys_parent_does_not_use_it(ask, deliver, upstream, talk):
    session, (_, a1, u2, a2, u3, _) = talk(3)
    summaries.store_summary(u3, a2.pk, "Late.", 3)
    session.point_at(a2)
    [run] = ask("Elsewhere", session=session)
    deliver(run).result()
    assert shown(upstream.requests[-1]) == ["Question 1", "Answer 1", "Question 2", "Answer 2", "Elsewhere"]
    summaries.store_summary(u2, a1.pk, "Early.", 3)
    branch = load_branch(run.turn.user_message_id)
    assert branch.summary
    assert [entry.text for entry in branch.entries] == ["Question 2", "Answer 2", "Elsewhere"]


def test_covered_and_uncovered_messages_together_are_the_branch(talk):
    _, messages = talk(3)
    u3 = messages[4]
    for cutoff in (messages[1], messages[3]):
        summary = summaries.store_summary(u3, cutoff.pk, "Short.", 3)
        branch = load_branch(messages[5].pk)
        assert branch.summary
        assert branch.summary.id == summary.pk  # of two with the same parent the newest
        at = messages.index(cutoff) + 1
        assert [entry.id for entry in branch.entries] == [str(message.pk) for message in messages[at:]]
        assert branch.entries[0].role == "user"


def test_files_and_citation_numbers_of_covered_messages_remain_known(talk):
    session, (u1, a1, u2, _) = talk(2)
    file = File.objects.create(owner=session.owner, name="tides.txt", text="High and low.", token_count=4)
    MessageFile.objects.create(message=u1, file=file, position=0, number=7)
    summaries.store_summary(u2, a1.pk, "Short.", 3)
    branch = load_branch(u2.pk)
    assert branch.highest_number == 7
    assert [(file.name, file.document.number) for file in branch.summarised_files] == [("tides.txt", 7)]


def test_prompt_blocks_in_force_move_to_the_first_remaining_message(talk):
    _, (u1, a1, u2, a2, u3, a3) = talk(3)
    documents = [{"number": 3, "document_id": "d", "title": "Tides"}]
    PromptBlock.objects.create(message=u1, kind="CA", text="Old agent")
    PromptBlock.objects.create(message=u1, kind="P", text="Project", documents=documents)
    PromptBlock.objects.create(message=u2, kind="CA", text="Agent")
    PromptBlock.objects.create(message=u3, kind="D", text="Own")
    summaries.store_summary(u3, a2.pk, "Short.", 3)
    branch = load_branch(a3.pk)
    assert {block.kind: block.text for block in branch.entries[0].blocks} == {
        "CA": "Agent",
        "P": "Project",
        "D": "Own",
    }
    assert branch.project == ("Project", [3])
    summaries.store_summary(u3, a1.pk, "Shorter.", 3)
    branch = load_branch(a3.pk)
    assert {block.text for block in branch.entries[0].blocks} == {"Agent", "Project"}


def test_a_smaller_model_gets_the_summary_and_the_messages_that_fit(deliver, ask, upstream, talk):
    session, (_, _, _, a2, u3, a3) = talk(3)
    summaries.store_summary(u3, a2.pk, "They greeted.", 3)
    ChatMessage.objects.filter(pk=a3.pk).update(text="word " * 2000, token_count=2000)
    ModelConfig.objects.create(
        name="small", base_url=upstream.base_url, context_window=2000, max_output_tokens=500
    )
    [run] = ask("And now?", "small", session=session)
    deliver(run).result()
    ended(run, Status.COMPLETED)
    assert shown(upstream.requests[-1]) == [SUMMARY.format(text="They greeted."), "And now?"]


def test_a_summary_too_long_for_a_smaller_model_is_omitted_and_the_turn_succeeds(
    deliver, ask, upstream, talk
):
    session, (_, _, _, a2, u3, _) = talk(3)
    create_summary(u3, a2, "They greeted. " * 500, 1500)
    ModelConfig.objects.create(
        name="small", base_url=upstream.base_url, context_window=2000, max_output_tokens=500
    )
    [run] = ask("And now?", "small", session=session)
    deliver(run).result()
    ended(run, Status.COMPLETED)
    assert shown(upstream.requests[-1]) == ["Question 3", "Answer 3", "And now?"]
    # One that fits is asked for.
    assert Compression.objects.filter(status="queued").get().model == "small"


def test_a_summary_made_for_a_small_window_is_not_sent_to_a_model_with_a_large_one(
    deliver, ask, upstream, talk
):
    session, (_, _, _, a2, u3, _) = talk(3)
    create_summary(u3, a2, "They greeted.", 3, made_for=2000)
    create_model("small", upstream.base_url)
    runs = ask("And now?", "scripted", "small", session=session)
    for run in runs:
        deliver(run).result()
    large, small = (shown(request) for request in upstream.requests[-2:])
    assert large == ["Question 1", "Answer 1", "Question 2", "Answer 2", "Question 3", "Answer 3", "And now?"]
    assert small == [SUMMARY.format(text="They greeted."), "Question 3", "Answer 3", "And now?"]


def test_a_large_model_uses_a_small_ones_summary_only_while_the_branch_does_not_fit(
    deliver, ask, upstream, talk
):
    session, (_, a1, _, a2, u3, _) = talk(3)
    create_summary(u3, a2, "They greeted.", 3, made_for=1500)
    ChatMessage.objects.filter(pk=a1.pk).update(text="word " * 130_000, token_count=130_000)
    [run] = ask("And now?", session=session)
    deliver(run).result()
    assert shown(upstream.requests[-1])[0] == SUMMARY.format(text="They greeted.")
    ChatMessage.objects.filter(pk=a1.pk).update(text="word " * 10_000, token_count=10_000)
    session.refresh_from_db()
    [run] = ask("And then?", session=session)
    deliver(run).result()
    assert shown(upstream.requests[-1])[0] == "Question 1"


@pytest.mark.parametrize("messages", [40, 400])
def test_what_a_large_window_does_not_need_costs_a_fixed_number_of_queries(talk, messages):
    _, (_, a1, u2, a2) = talk(2)
    create_summary(u2, a1, "Short.", 3, made_for=1500)
    tip = a2
    for number in range(messages):
        role = "assistant" if number % 2 else "user"
        tip = ChatMessage.objects.append(tip, role=role, text=f"m{number}", token_count=2)
    with CaptureQueriesContext(connection) as asked:
        branch = load_branch(tip.pk, window=lambda: ModelWindow(100_000))
    assert len(branch.entries) == messages + 4
    assert len(asked) == 4
    sizes = SIZES.all(leaf=tip.pk)
    assert len(sizes) == messages + 4
    with_texts = [
        sum(message.tokens for group in renderer.render_answer(entry) for message in group)
        if entry.role == "assistant"
        else renderer.render_user(entry).tokens
        for renderer in [MessageRenderer(estimate_tokens)]
        for entry in reversed(branch.entries)
    ]
    assert [size.tokens for size in sorted(sizes)] == with_texts, "measured without texts as with them"


@pytest.mark.parametrize("with_summary", [False, True])
def test_a_branch_is_loaded_with_one_query(talk, with_summary):
    """Without a summary; with one, what it covers is looked through besides."""
    _, (_, a1, u2, a2) = talk(2)
    if with_summary:
        summaries.store_summary(u2, a1.pk, "Short.", 3)
    with CaptureQueriesContext(connection) as asked:
        load_branch(a2.pk)
    assert len(asked) == (7 if with_summary else 1)


def test_a_summary_changes_neither_replies_nor_the_current_branch(talk):
    session, (_, a1, u2, a2) = talk(2)
    summary = summaries.store_summary(u2, a1.pk, "Short.", 3)
    u2.refresh_from_db()
    session.refresh_from_db()
    assert (u2.latest_child_id, session.leaf_id) == (a2.pk, a2.pk)
    assert summary.role == Role.SUMMARY
    assert list(a2.siblings()) == [a2]
    assert summary.sent_at - a2.sent_at < timedelta(hours=1)
