"""The request that named a session is kept, shown to staff, and counted in the usage."""

import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import DailyUse, ModelConfig
from chat.protocol.states import Status
from features.titles import generation as titles
from tests import factories
from tests.features.titles.titling import name_session
from tests.llm_worker.outcomes import ended

QUESTION = "Why are there two tides a day?"
USED = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 400}}


@pytest.fixture
def answered(deliver, ask, upstream):
    upstream.reply({"text": "The Moon pulls both sides."})
    [run] = ask(QUESTION)
    ModelConfig.objects.update(prompt_price=1, cached_price=Decimal("0.5"), completion_price=10)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    return run


@pytest.fixture
def staff(db):
    client = Client()
    client.force_login(factories.create_user("bob", is_staff=True, is_superuser=True))
    return client


def usage(run):
    return factories.api_client(run.turn.session.owner).get("/api/usage/").json()


def kept_page(staff, row):
    """The page of the only request that the page of this row leads to."""
    url = reverse(f"admin:chat_{row._meta.model_name}_change", args=[row.pk])
    links = set(
        re.findall(r'href="(/admin/chat/siderequest/[0-9a-f-]+/change/)"', staff.get(url).content.decode())
    )
    assert len(links) == 1, links
    return staff.get(links.pop()).content.decode()


def test_staff_read_it_from_the_page_of_the_run_and_of_the_session(runtime, answered, upstream, staff):
    upstream.reply({"text": '"Two Tides a Day."'}, stream=False)
    name_session(runtime, str(answered.pk))
    sent = upstream.asides[0].messages
    for row in (answered, answered.turn.session):
        page = kept_page(staff, row)
        assert QUESTION in page
        assert sent[0]["content"][:40] in page
        assert "Two Tides a Day." in page, "the answer as it came"


def test_its_tokens_and_cost_are_counted_apart_from_those_of_answers(runtime, answered, upstream):
    upstream.reply({"text": "Two Tides"}, {"usage": USED}, stream=False)
    name_session(runtime, str(answered.pk))
    answers, for_titles = usage(answered)
    assert (answers["purpose"], answers["runs"], answers["requests"]) == ("answers", 1, 1)
    assert for_titles == {
        "day": answers["day"], "model": "scripted", "purpose": "titles", "runs": 0, "requests": 1,
        "prompt_tokens": 1000, "completion_tokens": 10, "cached_tokens": 400, "reasoning_tokens": 0,
        "estimated_tokens": 0, "cost": (600 + 200 + 100) / 1_000_000,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("step", "code"),
    [({"status": 400}, "upstream_rejected"), ({"hang": True}, "cancelled")],
)
def test_one_that_fails_is_kept_with_its_reason(runtime, answered, upstream, staff, monkeypatch, step, code):
    monkeypatch.setattr(titles, "TIMEOUT_S", 0.3)
    upstream.reply(step, stream=False)
    name_session(runtime, str(answered.pk))
    page = kept_page(staff, answered)
    assert QUESTION in page
    assert code in page


def test_where_requests_are_not_kept_only_the_usage_is(runtime, answered, upstream, staff, settings):
    settings.KEEP_REQUESTS_HOURS = 0
    upstream.reply({"text": "Two Tides"}, {"usage": USED}, stream=False)
    name_session(runtime, str(answered.pk))
    page = kept_page(staff, answered)
    assert QUESTION not in page
    assert "not kept" in page
    assert usage(answered)[1]["prompt_tokens"] == 1000


def test_a_session_deleted_meanwhile_leaves_nothing(runtime, answered, upstream):
    owner = answered.turn.session.owner
    upstream.reply({"wait": "owner"}, {"text": "Two Tides"}, stream=False)
    with ThreadPoolExecutor(1) as thread:
        titling = thread.submit(name_session, runtime, str(answered.pk))
        upstream.wait_for(lambda: upstream.asides)
        answered.turn.session.delete()
        upstream.release("owner")
        titling.result(60)
    assert factories.api_client(owner).get("/api/usage/").json() == []


def test_its_tokens_and_cost_count_into_the_day_of_the_owner(runtime, answered, upstream):
    before = DailyUse.objects.get()
    upstream.reply({"text": "Two Tides"}, {"usage": USED}, stream=False)
    name_session(runtime, str(answered.pk))
    after = DailyUse.objects.get()
    assert (after.runs, after.tokens - before.tokens) == (before.runs, 1010)
    assert after.cost - before.cost == Decimal("0.0009")
