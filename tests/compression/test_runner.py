"""A compression from its row to its summary: what the model is asked, what is accepted, and what is left behind."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chat.compressions.summaries import find_summary_for_branch
from chat.models import Compression, ModelConfig, Session, TriggeredBy
from chat.models.session import SessionEvent
from compression.measurement import measure_branch
from compression.prompt import MARKER
from compression.runner import CompressionRunner
from tests import factories
from tests.compression.conftest import WORD, Talk, again
from tests.upstream import Upstream

SUMMARY = "They spoke of tides, in u1 and in a5, and of how high the water of each harbour rises in spring and in autumn."
ECHO = "The summary of the messages before the marker, in at most a hundred words."


def heard(talk: Talk) -> list[dict[str, Any]]:
    events = SessionEvent.objects.filter(session=talk.session, kind="compression").order_by("n")
    return [event.payload for event in events]


def roles(upstream: Upstream) -> list[list[str]]:
    return [[message["role"] for message in aside.messages] for aside in upstream.asides]


def spoken(upstream: Upstream, number: int = 0) -> list[str]:
    """Of a request, what was said, by name; the marker as |."""
    contents = [message["content"] for message in upstream.asides[number].messages]
    return ["|" if text == MARKER else text.split()[1] for text in contents[1:-1]]


def test_a_long_branch_gets_a_summary_below_its_last_question(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    done, (summary,) = again(asked), talk.summaries()
    assert (done.status, done.summary, done.error_code) == ("done", summary, "")
    assert (summary.text, talk.name_of(summary.parent), talk.name_of(summary.last_summarized_message)) == (
        SUMMARY, "u6", "a5",
    )  # fmt: skip
    assert done.tokens_before > 1800 > 400 > done.tokens_after
    assert done.history_window == 3000 - done.reserved_tokens
    assert done.prompt_tokens
    assert [event["status"] for event in heard(talk)] == ["started", "done"]
    assert heard(talk)[1]["tokens_after"] == done.tokens_after


def test_the_window_is_measured_in_tokens_of_our_estimate(talk, runner, upstream):
    upstream.reply({"text": SUMMARY}, stream=False)
    talk.turns(4)
    short = talk.ask("a4")
    runner.run(str(short.pk))
    assert again(short).status == "nothing"
    ModelConfig.objects.update(token_factor=1.5)
    talk.turn(5, tokens=10)
    asked = talk.ask("a5")
    runner.run(str(asked.pk))
    done = again(asked)
    assert done.status == "done"
    assert done.history_window == 2000 - done.reserved_tokens
    assert 333 < done.reserved_tokens < 2000


def test_a_server_that_demands_alternating_roles_is_asked_in_its_way(talk, runner, upstream):
    talk.model.requires_alternating_roles = upstream.strict = True
    talk.model.save()
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    assert again(asked).status == "done"
    assert roles(upstream) == [["system", *["user", "assistant"] * 5, "user"]]
    assert upstream.asides[0].messages[-1]["content"].startswith(MARKER)


def test_the_model_is_asked_with_a_marker_and_without_what_came_after_the_parent(talk, runner, upstream):
    talk.turn(1)
    talk.turns(5)
    upstream.reply({"text": SUMMARY}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    (aside,) = upstream.asides
    assert roles(upstream) == [["system", *["user", "assistant"] * 5, "user", "user", "user"]]
    assert spoken(upstream) == ["u1", "a1", "u2", "a2", "u3", "a3", "u4", "a4", "u5", "a5", "|", "u6"]
    assert "tools" not in aside.body
    assert aside.body["stream"] is False
    assert "a6" not in str(aside.body)


def test_a_later_summary_goes_on_from_the_one_before(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, times=1, stream=False)
    upstream.reply({"text": f"Still: {SUMMARY}"}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    talk.turns(5)
    runner.run(str(talk.ask("a11").pk))
    first, second = talk.summaries()
    assert spoken(upstream, 1) == [
        "u6",
        "a6",
        *[f"{role}{n}" for n in range(7, 11) for role in "ua"],
        "|",
        "u11",
    ]
    assert SUMMARY in upstream.asides[1].messages[0]["content"]
    assert talk.name_of(second.last_summarized_message) == "a10"
    assert find_summary_for_branch(talk["a11"]).id == second.pk
    assert find_summary_for_branch(talk["a6"]).id == first.pk


@pytest.mark.parametrize(
    ("steps", "status", "code"),
    [
        pytest.param([{"text": "   "}], "refused", "empty", id="an empty text"),
        pytest.param(
            [{"text": "<think>long thoughts</think>"}], "refused", "empty", id="nothing but thoughts"
        ),
        pytest.param([{"text": SUMMARY}, {"finish": "length"}], "refused", "truncated", id="a truncated one"),
        pytest.param(
            [{"text": SUMMARY}, {"finish": "tool_calls"}], "refused", "truncated", id="before a call"
        ),
        pytest.param(
            [{"text": SUMMARY}, {"finish": "content_filter"}], "refused", "truncated", id="a filtered one"
        ),
        pytest.param(
            [{"text": SUMMARY}, {"finish": "error"}], "failed", "upstream_interrupted", id="a broken one"
        ),
        pytest.param([{"text": "ok"}], "refused", "too_short", id="two letters"),
        pytest.param(
            [{"text": "I'm sorry, but I can't help with that."}], "refused", "refusal", id="an excuse"
        ),
        pytest.param([{"text": ECHO}], "refused", "echo", id="the request's own words"),
        pytest.param([{"text": WORD * 2000}], "refused", "too_long", id="longer than its source"),
        pytest.param([{"text": WORD * 1500}], "refused", "small_gain", id="hardly shorter"),
        pytest.param([{"refusal": "no"}], "failed", "model_refusal", id="a refusal"),
        pytest.param([{"status": 401}], "failed", "upstream_auth", id="the wrong key"),
        pytest.param([{"raw": "not json"}], "failed", "upstream_malformed", id="no completion at all"),
    ],
)
def test_without_an_acceptable_summary_nothing_is_written(talk, runner, upstream, steps, status, code):
    talk.turns(6)
    if "raw" in steps[0]:
        steps = [{"status": 200, "body": {"not": "a completion"}}]
    upstream.reply(*steps, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    ended = again(asked)
    assert (ended.status, ended.error_code, talk.summaries()) == (status, code, [])
    assert ended.retry_at is not None
    assert heard(talk)[-1]["status"] == "failed"
    assert find_summary_for_branch(talk["a6"]) is None


def test_a_model_that_wrote_no_summary_is_asked_once_more(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"text": "Bananas."}, times=1, stream=False)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    assert (again(asked).status, [summary.text for summary in talk.summaries()]) == ("done", [SUMMARY])
    assert len(upstream.asides) == 2


def test_another_model_writes_what_the_chosen_one_cannot(talk, runner, upstream, settings):
    """The model of the chat, if the one for summaries wrote none twice; both are paid for."""
    factories.create_model("writer", base_url=upstream.base_url, prompt_price=1, completion_price=1)
    ModelConfig.objects.filter(name="tides").update(prompt_price=1000, completion_price=1000)
    settings.COMPRESSION_MODEL = "writer"
    talk.turns(6)
    used = {"prompt_tokens": 1000, "completion_tokens": 0}
    upstream.reply({"text": "ok"}, {"usage": used}, model="writer", stream=False)
    upstream.reply({"text": SUMMARY}, {"usage": used}, model="tides", stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    done = again(asked)
    assert (done.status, [summary.text for summary in talk.summaries()]) == ("done", [SUMMARY])
    assert [aside.body["model"] for aside in upstream.asides] == ["writer", "writer", "tides"]
    assert done.prompt_tokens == 3000
    assert float(done.cost) == pytest.approx((2 * 1000 * 1 + 1000 * 1000) / 1_000_000)


def test_thoughts_before_a_summary_are_not_part_of_it(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"text": f"<think>Well.</think>\n\n{SUMMARY}\n"}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    assert [summary.text for summary in talk.summaries()] == [SUMMARY]


@pytest.mark.parametrize("reason", ["eos", "EOS_TOKEN", "end_turn", "mumbled", "", None])
def test_a_whole_summary_is_accepted_whatever_its_server_calls_the_end(talk, runner, upstream, reason):
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, {"finish": reason}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    assert [summary.text for summary in talk.summaries()] == [SUMMARY]


def test_a_short_branch_costs_no_request_unless_somebody_asks_by_hand(talk, runner, upstream):
    talk.turns(2)
    upstream.reply({"text": SUMMARY}, stream=False)
    unasked = talk.ask("a2")
    runner.run(str(unasked.pk))
    assert (again(unasked).status, upstream.asides, heard(talk)) == ("nothing", [], [])
    by_hand = talk.ask("a2", TriggeredBy.USER)
    runner.run(str(by_hand.pk))
    assert (again(by_hand).status, len(talk.summaries())) == ("done", 1)


@pytest.mark.parametrize(("room", "status"), [(0, "nothing"), (-1, "done")])
def test_the_trigger_is_exact(talk, runner, upstream, room, status):
    """With three quarters of the window exactly full, and with one token less of it."""
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    found = measure_branch(asked, talk.model)
    window = -(-found.params.history_tokens * 4 // 3) + found.reserved_tokens + room
    type(talk.model).objects.update(context_window=window)
    # What is reserved depends on the window, too.
    Compression.objects.update(reserved_tokens=found.reserved_tokens)
    runner.run(str(asked.pk))
    assert again(asked).status == status


def test_a_single_turn_cannot_be_summarised(talk, runner, upstream):
    talk.turns(1, tokens=900)
    asked = talk.ask("a1", TriggeredBy.USER)
    runner.run(str(asked.pk))
    assert (again(asked).status, upstream.asides) == ("nothing", [])


def test_of_the_models_of_a_turn_each_is_measured_by_its_own_window(talk, runner, upstream):
    large = factories.create_model("oceans", base_url=upstream.base_url, context_window=100_000)
    talk.turns(5)
    talk.turn(6, siblings=["b6"])
    run = talk["a6"].run
    type(run).objects.filter(pk=run.pk).update(model_config=large)
    upstream.reply({"text": SUMMARY}, stream=False)
    roomy = talk.ask("a6", model=large)
    runner.run(str(roomy.pk))
    assert (again(roomy).status, talk.summaries()) == ("nothing", [])
    full = talk.ask("b6")
    runner.run(str(full.pk))
    assert again(full).status == "done"
    assert again(full).history_window == 3000 - again(full).reserved_tokens
    assert find_summary_for_branch(talk["b6"]) == find_summary_for_branch(talk["a6"]) is not None


def test_a_run_that_could_not_show_its_whole_history_makes_a_compression_due(talk, runner, upstream):
    talk.turns(3)
    upstream.reply({"text": SUMMARY}, stream=False)
    uncut = talk.ask("a3")
    runner.run(str(uncut.pk))
    assert again(uncut).status == "nothing", "it is short enough by the stored counts"
    cut = talk.ask("a3")
    Compression.objects.filter(pk=cut.pk).update(is_history_cut=True)
    runner.run(str(cut.pk))
    assert (again(cut).status, len(talk.summaries())) == ("done", 1)


def test_of_a_history_longer_than_the_window_no_more_is_kept_than_the_window_holds(talk, runner, upstream):
    """After a switch from a model with a large window: a fifth of that history does not fit."""
    talk.turns(60)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a60")
    runner.run(str(asked.pk))
    done = again(asked)
    assert done.tokens_before > 5 * done.history_window
    assert done.tokens_after < 0.75 * done.history_window


def test_another_model_may_summarise(talk, runner, upstream, settings):
    settings.COMPRESSION_MODEL = "scribe"
    scribe = factories.create_model("scribe", base_url=upstream.base_url, prompt_price=1, completion_price=2)
    talk.turns(6)
    upstream.reply(
        {"text": SUMMARY}, {"usage": {"prompt_tokens": 1000, "completion_tokens": 10}}, stream=False
    )
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    assert upstream.asides[0].body["model"] == scribe.name
    done = again(asked)
    assert (done.model, done.prompt_tokens, float(done.cost)) == ("tides", 1000, 0.00102)


@pytest.mark.parametrize("change", [{"is_demo": True}, {"base_url": ""}])
def test_without_a_model_to_ask_it_fails(talk, runner, upstream, settings, change):
    settings.LLM_BASE_URL = ""
    talk.turns(6)
    ModelConfig.objects.update(**change)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    assert (again(asked).status, again(asked).error_code) == ("failed", "model_not_configured")


def test_a_history_longer_than_the_window_is_summarised_in_passes(talk, runner, upstream):
    talk.turns(20)
    upstream.reply({"text": f"First: {SUMMARY}"}, times=1, stream=False)
    upstream.reply({"text": f"Then: {SUMMARY}"}, times=1, stream=False)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a20")
    runner.run(str(asked.pk))
    assert again(asked).status == "done"
    assert len(upstream.asides) > 2
    said = [spoken(upstream, number) for number in range(len(upstream.asides))]
    before = [name for names in said for name in names[: names.index("|")]]
    cutoff = talk.name_of(talk.summaries()[0].last_summarized_message)
    assert before == [f"{role}{n}" for n in range(1, int(cutoff[1:]) + 1) for role in "ua"]
    assert "First: They" in upstream.asides[1].messages[0]["content"]
    assert "Then: They" in upstream.asides[2].messages[0]["content"]


def test_tools_are_named_and_their_responses_left_out(talk, runner, upstream):
    talk.turns(6)
    talk.use_tool("a2")
    upstream.reply({"text": SUMMARY}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    shown = str(upstream.asides[0].body)
    assert "[Tools used for this answer: web_search]" in shown
    assert "secret response" not in shown


def test_of_five_deliveries_at_once_one_asks_the_model(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"wait": "others"}, {"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    with ThreadPoolExecutor(5) as threads:
        deliveries = [threads.submit(runner.run, str(asked.pk)) for _ in range(5)]
        upstream.wait_for(lambda: upstream.asides)
        upstream.wait_for(lambda: sum(delivery.done() for delivery in deliveries) == 4)
        upstream.release("others")
    assert [delivery.result() for delivery in deliveries] == [None] * 5
    assert (len(upstream.asides), len(talk.summaries())) == (1, 1)


def test_a_turn_that_is_sent_meanwhile_changes_nothing(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"wait": "turn"}, {"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(runner.run, str(asked.pk))
        upstream.wait_for(lambda: upstream.asides)
        talk.turn(7)
        upstream.release("turn")
        work.result(60)
    (summary,) = talk.summaries()
    assert talk.name_of(summary.parent) == "u6"
    assert find_summary_for_branch(talk["a7"]).id == summary.pk


def test_a_session_that_is_deleted_meanwhile_leaves_nothing(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"wait": "deletion"}, {"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(runner.run, str(asked.pk))
        upstream.wait_for(lambda: upstream.asides)
        Session.objects.filter(pk=talk.session.pk).delete()
        upstream.release("deletion")
        work.result(60)
    assert not Session.objects.exists()


def test_a_process_that_ends_puts_back_what_it_has_and_another_goes_on(talk, runner, upstream):
    talk.turns(6)
    upstream.reply({"hang": True}, times=1, stream=False)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(runner.run, str(asked.pk))
        upstream.wait_for(lambda: upstream.asides)
        runner.drain()
        work.result(60)
    assert (again(asked).status, again(asked).failures) == ("queued", 0)
    upstream.wait_for(lambda: upstream.asides[0].ended == "disconnected")
    runner.run(str(asked.pk))
    assert again(asked).status == "queued", "it takes nothing more"
    another = CompressionRunner()
    another.run(str(asked.pk))
    another.close()
    assert (again(asked).status, len(talk.summaries())) == ("done", 1)


def test_what_breaks_inside_ends_that_compression_alone(talk, runner, upstream, monkeypatch):
    def broken(_held):
        raise ZeroDivisionError

    monkeypatch.setattr("compression.runner.plan_job", broken)
    talk.turns(6)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    assert (again(asked).status, again(asked).error_code) == ("failed", "internal_error")


def test_each_model_is_compressed_as_it_sees_the_branch(talk, runner, upstream):
    """A large model's summary is written from the messages, not from a small one's summary of them."""
    large = factories.create_model("oceans", base_url=upstream.base_url, context_window=40_000)
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    talk.turns(6)
    upstream.asides.clear()
    runner.run(str(talk.ask("a12").pk))
    by_small = [str(aside.body) for aside in upstream.asides]
    assert "previous_summary" in by_small[0]
    assert not any("says u1 " in body for body in by_small)
    upstream.asides.clear()
    by_hand = talk.ask("a12", TriggeredBy.USER, model=large)
    runner.run(str(by_hand.pk))
    [by_large] = [str(aside.body) for aside in upstream.asides]
    assert "previous_summary" not in by_large
    assert "says u1 " in by_large
    assert again(by_hand).tokens_before > again(by_hand).tokens_after


def test_ahead_of_time_is_off_by_default(talk, runner, upstream):
    talk.turns(5)
    asked = talk.ask("a5")
    runner.run(str(asked.pk))
    assert (again(asked).status, upstream.asides) == ("nothing", [])


def test_a_failed_compression_keeps_what_the_server_said_for_staff(talk, runner, upstream, admin_client):
    talk.turns(6)
    said = {"error": {"code": "DeploymentNotFound", "message": "no deployment for ann@example.org"}}
    upstream.reply({"status": 404, "body": said}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    failed = again(asked)
    assert (failed.status, failed.error_code) == ("failed", "model_not_found")
    assert failed.upstream_error == (404, "DeploymentNotFound", "no deployment for [redacted]")
    page = admin_client.get(f"/admin/chat/compression/{asked.pk}/change/").content.decode()
    assert "no deployment for [redacted]" in page
