"""What the page of a run shows first: its error, calls that failed, lost attempts, and what its model did not see."""

from html import unescape
from typing import Any

import pytest
from django.urls import reverse
from django.utils.timezone import now

from chat.models import Run, SentRequest, ToolCall
from chat.protocol.errors import RUN_ERRORS
from chat.protocol.states import Status
from tests import factories
from web.admin.read_only import admin_url
from web.admin.run_findings import ADVICE, WORDS, Finding, advice_of, words_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return factories.queued_run()


def findings(run: Run) -> list[Finding]:
    client = factories.staff_client("view_run")
    shown: Any = client.get(reverse("admin:chat_run_change", args=[run.pk]))
    listed: list[Finding] = shown.context["findings"]
    page = unescape(shown.content.decode())
    assert all(one.detail in page for one in listed)
    return listed


def request_of(run: Run, cycle: int, left_out: list[dict[str, Any]]) -> SentRequest:
    return SentRequest.objects.create(
        run=run,
        attempt=1,
        cycle=cycle,
        common=0,
        messages=[],
        tokens=1,
        prefix_share=0,
        sent_at=now(),
        account={"left_out": left_out},
    )


def test_nothing_stands_out_in_a_run_that_went_well(run: Run) -> None:
    factories.finish_run(str(run.pk))
    request_of(run, 1, [])
    assert findings(run) == []


def test_an_error_leads_to_the_model(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(
        status=Status.FAILED, error_code="upstream_auth", error_message="Refused.", ended_at=now(), last_seq=1
    )
    (error,) = findings(run)
    assert run.model_config
    assert error.what == "Failed: The model server refused the credentials."
    assert (error.detail, error.advice) == ("Refused.", "Enter a valid key for this server.")
    assert error.url == admin_url(run.model_config)


def test_the_page_of_a_run_names_the_address_that_is_called_without_its_secrets(run: Run) -> None:
    assert run.model_config
    run.model_config.change(base_url="https://root:hunter2@models.example.org/v1?key=s3cret")
    url = reverse("admin:chat_run_change", args=[run.pk])
    client = factories.staff_client("view_run", "view_modelconfig", name="carol")
    page = client.get(url).content.decode()
    assert "https://models.example.org/v1/chat/completions" in page
    assert "hunter2" not in page
    assert "s3cret" not in page
    assert "models.example.org" not in factories.staff_client("view_run").get(url).content.decode()


def test_every_error_has_words_and_advice_for_staff() -> None:
    assert [message for message, _ in RUN_ERRORS.values()] == [*map(str, WORDS)]
    assert ADVICE.keys() == RUN_ERRORS.keys()
    assert (words_of("of_another_version"), advice_of("of_another_version")) == ("of_another_version", "")


@pytest.mark.parametrize("status", ["failed", "refused", "unknown"])
def test_a_call_that_came_to_nothing_leads_to_its_page(run: Run, status: str) -> None:
    call = ToolCall.objects.create(
        run=run,
        message_id=run.message_id,
        turn_number=1,
        name="web_search",
        status=status,
        response="No. " * 200,
    )
    ToolCall.objects.create(
        run=run, message_id=run.message_id, turn_number=2, name="web_search", status="completed"
    )
    assert findings(run) == [
        Finding(f"Tool call {status}: web_search", ("No. " * 200)[:300].strip() + " ", admin_url(call))
    ]


def test_a_lost_attempt_says_why_another_one_followed(run: Run) -> None:
    first = Run.objects.claim(run.pk, owner=4711)
    assert first
    assert first.release("owner_dead", failures=1)
    Run.objects.claim(run.pk, owner=4712)
    assert findings(run) == [Finding("Attempt 1 was followed by attempt 2", "taken from a dead worker")]


def test_what_the_last_request_left_out_leads_to_the_summary_and_to_the_request(run: Run) -> None:
    request_of(run, 1, [{"why": "budget", "count": 9, "what": []}])
    last = request_of(
        run,
        2,
        [
            {"why": "summary", "what": [str(run.message_id)]},
            {"why": "budget", "count": 1, "what": []},
            {"why": "tool", "count": 2, "what": ["a", "b"]},
        ],
    )
    summary, budget, tools = findings(run)
    assert summary.url == reverse("admin:chat_chatmessage_change", args=[run.message_id])
    assert (budget.what, budget.url) == ("1 message was left out", admin_url(last))
    assert (tools.what, tools.detail) == ("2 tools were left out", "a, b")


def test_the_words_of_the_model_server_replace_ours(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(
        status=Status.FAILED,
        error_code="upstream_auth",
        error_message="Refused.",
        upstream_status=401,
        upstream_code="invalid_api_key",
        upstream_message="Incorrect API key provided.",
        ended_at=now(),
        last_seq=1,
    )
    (error,) = findings(run)
    assert error.detail == "The model server said: 401 invalid_api_key Incorrect API key provided."
