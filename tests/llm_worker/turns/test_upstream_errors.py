"""What a model server says when it fails: a code for the user, the words for staff alone, and ids in the log."""

import logging

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from chat.models import Run
from chat.protocol.states import Status
from chat.sessions.portable.exporter import as_json
from config.log_format import ContextFilter
from tests.llm_worker.outcomes import ended

KEY = "key-of-ours-123456"
SAID = "This model's maximum context length is 9 tokens"
TOO_LONG = {"status": 400, "body": {"error": {"type": "BadRequestError", "message": f"{SAID}, {KEY}"}}}


@pytest.fixture
def failed(deliver, ask, upstream, monkeypatch) -> Run:
    upstream.reply(TOO_LONG)
    [run] = ask()
    monkeypatch.setenv("LLM_KEY_SERVER", KEY)
    run.model_config.api_key_env = "LLM_KEY_SERVER"
    run.model_config.save()
    deliver(run).result()
    run.refresh_from_db()
    return run


def read(run: Run, client: Client) -> dict[str, object]:
    return client.get(f"/api/runs/{run.pk}/").json()


def login(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_400_about_the_context_length_says_that_the_conversation_is_too_long(failed):
    ended(failed, Status.FAILED, code="context_too_long", text="")
    assert "too long" in failed.error_message


def test_the_run_keeps_status_code_and_words_of_the_server_without_the_key(failed):
    assert failed.upstream_error == (400, "BadRequestError", f"{SAID}, [redacted]")


def test_the_owner_reads_the_class_and_the_status_but_not_the_words(failed):
    owner = login(failed.turn.session.owner)
    assert read(failed, owner)["upstream_error"] == {"status": 400}
    seen = [
        owner.get(f"/api/runs/{failed.pk}/packets/").content,
        owner.get(f"/api/sessions/{failed.turn.session_id}/messages/").content,
        b"".join(as_json(failed.turn.session)),
    ]
    assert not any(SAID.encode() in body or b"BadRequestError" in body for body in seen)


def test_staff_reads_the_words_of_own_runs_and_everybodys_in_the_admin(failed):
    user = failed.turn.session.owner
    user.is_staff = user.is_superuser = True
    user.save()
    said = {"status": 400, "code": "BadRequestError", "message": f"{SAID}, [redacted]"}
    assert read(failed, login(user))["upstream_error"] == said
    chief = get_user_model().objects.create_superuser("chief")
    page = login(chief).get(reverse("admin:chat_run_change", args=[failed.pk])).content.decode()
    assert SAID.replace("'", "&#x27;") in page
    assert KEY not in page


def test_who_is_no_staff_any_more_does_not_read_the_words(failed):
    user = failed.turn.session.owner
    user.user_permissions.add(Permission.objects.get(codename="view_run"))
    assert read(failed, login(user))["upstream_error"] == {"status": 400}


def test_the_log_says_which_run_turn_attempt_cycle_and_model_failed(deliver, ask, upstream, caplog):
    upstream.reply(TOO_LONG)
    [run] = ask()
    ids = ContextFilter()
    caplog.handler.addFilter(ids)
    with caplog.at_level(logging.WARNING, "llm_worker.attempt.attempt"):
        deliver(run).result()
    caplog.handler.removeFilter(ids)
    [record] = [record for record in caplog.records if SAID in record.getMessage()]
    assert "the attempt failed in cycle 1: context_too_long: status 400" in record.getMessage()
    turn = {"turn": str(run.turn_id), "session": str(run.turn.session_id)}
    assert record.context == {"run": str(run.pk), **turn, "attempt": 1, "model": "scripted"}


def test_a_failure_without_a_response_keeps_what_happened(deliver, ask, upstream):
    [run] = ask()
    run.model_config.base_url = "http://127.0.0.1:9/v1"
    run.model_config.save()
    deliver(run).result()
    ended(run, Status.FAILED, code="upstream_unreachable", text="")
    assert run.upstream_status is None
    assert "Connect call failed" in run.upstream_message
