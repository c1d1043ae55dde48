"""Every request for a summary is kept, shown to staff, and counted in the usage by the model that wrote it."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import ModelConfig
from chat.sweeper.retention import RequestPurger
from tests import factories
from tests.compression.conftest import again

SUMMARY = "They spoke of tides, and of how high the water of each harbour rises in spring and in autumn."
USED = {"prompt_tokens": 1000, "completion_tokens": 10}


@pytest.fixture
def staff(db):
    client = Client()
    client.force_login(factories.create_user("bob", is_staff=True, is_superuser=True))
    return client


def pages(staff, compression):
    """Of the requests that the page of the compression leads to, in their order."""
    url = reverse("admin:chat_compression_change", args=[compression.pk])
    links = re.findall(
        r'href="(/admin/chat/siderequest/[0-9a-f-]+/change/)"', staff.get(url).content.decode()
    )
    return [staff.get(link).content.decode() for link in dict.fromkeys(links)]


def usage(talk):
    return factories.api_client(talk.session.owner).get("/api/usage/").json()


def test_staff_read_it_with_its_answer_from_the_page_of_the_compression(talk, runner, upstream, staff):
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    [page] = pages(staff, asked)
    assert "says u1 word" in page
    assert SUMMARY in page


def test_every_pass_is_kept_and_counted(talk, runner, upstream, staff):
    talk.turns(12, tokens=400)
    ModelConfig.objects.update(context_window=4000, prompt_price=1, completion_price=10)
    upstream.reply({"text": SUMMARY}, {"usage": USED}, stream=False)
    asked = talk.ask("a12")
    runner.run(str(asked.pk))
    passes = len(upstream.asides)
    assert passes > 1
    assert len(pages(staff, asked)) == passes
    [summaries] = [row for row in usage(talk) if row["purpose"] == "summaries"]
    assert (summaries["model"], summaries["requests"], summaries["runs"]) == ("tides", passes, 0)
    assert summaries["prompt_tokens"] == passes * 1000
    assert summaries["cost"] == pytest.approx(passes * 1100 / 1_000_000)
    assert float(again(asked).cost) == pytest.approx(summaries["cost"])


def test_usage_names_the_model_that_wrote_the_summary(talk, runner, upstream, settings):
    factories.create_model("writer", base_url=upstream.base_url, context_window=9000, max_output_tokens=500)
    settings.COMPRESSION_MODEL = "writer"
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, stream=False)
    runner.run(str(talk.ask("a6").pk))
    assert {(row["model"], row["purpose"]) for row in usage(talk)} >= {("writer", "summaries")}


def test_one_that_was_refused_is_kept_and_counted_too(talk, runner, upstream, staff):
    talk.turns(6)
    upstream.reply({"text": "  "}, {"usage": USED}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    assert again(asked).status == "refused"
    assert len(pages(staff, asked)) == 2  # it is tried once more
    assert [row["prompt_tokens"] for row in usage(talk) if row["purpose"] == "summaries"] == [2000]


def test_the_text_is_purged_with_other_requests_and_the_usage_stays(talk, runner, upstream, staff):
    talk.turns(6)
    upstream.reply({"text": SUMMARY}, {"usage": USED}, stream=False)
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    asked.side_requests.update(sent_at=timezone.now() - timedelta(hours=25))
    assert [RequestPurger().run(0.0), RequestPurger().run(0.0)] == [1, 0]
    [page] = pages(staff, asked)
    assert "says u1" not in page
    assert SUMMARY not in page
    assert [row["prompt_tokens"] for row in usage(talk) if row["purpose"] == "summaries"] == [1000]


def test_the_usage_page_of_the_admin_counts_it(talk, runner, upstream, staff):
    talk.turns(6)
    upstream.reply(
        {"text": SUMMARY}, {"usage": {"prompt_tokens": 98_765, "completion_tokens": 10}}, stream=False
    )
    runner.run(str(talk.ask("a6").pk))
    page = staff.get(reverse("admin:usage")).content.decode()
    assert "98765" in page
    assert "summaries" in page
