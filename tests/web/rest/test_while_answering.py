"""Messages sent while the tip is being answered: rejected, enqueued, or interrupting, per while_answering."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Run, Turn
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from tests import factories
from tests.broker import queued_run_ids
from tests.concurrency import run_concurrently


class TestWhileAnswering:
    @pytest.fixture
    def mode(self, client: APIClient, session: str) -> Any:
        def choose(mode: str) -> None:
            client.patch(f"/api/sessions/{session}/", {"while_answering": mode}, format="json")

        return choose

    def test_reject_refuses_the_message(self, client: APIClient, session: str, mode: Any) -> None:
        mode("reject")
        factories.send_turn(client, session)
        response = factories.send_turn(client, session, "again")
        assert (response.status_code, response.json()["code"]) == (409, "turn_in_progress")
        assert factories.message_texts(client, session)[0::2] == ["Hello"]

    @pytest.mark.django_db(transaction=True)
    def test_reject_accepts_one_of_two_concurrent_messages(self, alice: Any, session: str, mode: Any) -> None:
        mode("reject")
        responses = run_concurrently(*[lambda: factories.send_turn(factories.api_client(alice), session)] * 2)
        assert sorted(response.status_code for response in responses) == [202, 409]
        assert Turn.objects.count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_enqueue_starts_the_message_when_the_turn_has_ended(
        self, client: APIClient, session: str
    ) -> None:
        first = factories.send_turn(client, session, "one", models=["quick", "deep"]).json()
        second = factories.send_turn(client, session, "two").json()
        run = second["runs"][0]["id"]
        queued_run_ids()
        assert factories.message_texts(client, session) == ["one", "", "two", ""]
        assert Run.objects.claim(run, owner=1) is None
        factories.finish_run(first["runs"][0]["id"])
        assert Run.objects.claim(run, owner=1) is None
        Run.objects.filter(pk=run).update(deadline="2000-01-01T00:00Z")
        factories.finish_run(first["runs"][1]["id"])
        assert queued_run_ids() == [run]
        assert Run.objects.get(pk=run).deadline.year > 2000
        assert Run.objects.claim(run, owner=1) is not None

    @pytest.mark.django_db(transaction=True)
    def test_enqueued_messages_keep_their_order(self, alice: Any, session: str) -> None:
        responses = run_concurrently(*[lambda: factories.send_turn(factories.api_client(alice), session)] * 3)
        assert [response.status_code for response in responses] == [202] * 3
        first, second, third = Turn.objects.order_by("created_at")
        assert (first.after, second.after, third.after) == (None, first, second)

    @pytest.mark.django_db(transaction=True)
    def test_stopping_a_waiting_turn_does_not_start_the_next_early(
        self, client: APIClient, session: str
    ) -> None:
        first, second, third = (
            factories.send_turn(client, session, text).json() for text in ("one", "two", "three")
        )
        client.post(f"/api/turns/{second['turn']}/cancellation/")
        assert Run.objects.claim(third["runs"][0]["id"], owner=1) is None
        fourth = factories.send_turn(client, session, "four").json()
        assert Run.objects.claim(fourth["runs"][0]["id"], owner=1) is None
        queued_run_ids()
        factories.finish_run(first["runs"][0]["id"])
        assert queued_run_ids() == [third["runs"][0]["id"]]

    @pytest.mark.django_db(transaction=True)
    def test_a_reply_to_a_turn_stopped_while_waiting_waits_too(self, client: APIClient, session: str) -> None:
        first, second = (factories.send_turn(client, session, text).json() for text in ("one", "two"))
        client.post(f"/api/turns/{second['turn']}/cancellation/")
        third = factories.send_turn(client, session, "three").json()
        assert str(Turn.objects.get(pk=third["turn"]).after_id) == first["turn"]
        explicit = factories.send_turn(client, session, parent=second["runs"][0]["message"])
        assert explicit.json()["code"] == "parent_in_progress"

    @pytest.mark.django_db(transaction=True)
    def test_interrupt_stops_the_running_turn_first(self, client: APIClient, session: str, mode: Any) -> None:
        first, second = (factories.send_turn(client, session, text).json() for text in ("one", "two"))
        claimed = Run.objects.claim(first["runs"][0]["id"], owner=1)
        mode("interrupt")
        third = factories.send_turn(client, session, "three").json()["runs"][0]["id"]
        queued_run_ids()
        statuses = [Run.objects.get(pk=turn["runs"][0]["id"]).status for turn in (first, second)]
        assert statuses == ["stopping", "stopped"]
        assert Run.objects.claim(third, owner=1) is None
        assert claimed is not None
        commit_end(claimed.pk, claimed.attempt, RunOutcome(Status.STOPPED, last_seq=2, text="Half"))
        announce(claimed.pk)
        assert queued_run_ids() == [third]

    @pytest.mark.django_db(transaction=True)
    def test_interrupting_an_unclaimed_turn_starts_at_once(
        self, client: APIClient, session: str, mode: Any
    ) -> None:
        mode("interrupt")
        factories.send_turn(client, session, "one")
        queued_run_ids()
        second = factories.send_turn(client, session, "two").json()
        assert queued_run_ids() == [second["runs"][0]["id"]]

    def test_a_refused_message_interrupts_nothing(self, client: APIClient, session: str, mode: Any) -> None:
        mode("interrupt")
        factories.send_turn(client, session)
        assert factories.send_turn(client, session, models=["nobody"]).status_code == 400
        assert Run.objects.get().status == "queued"

    def test_a_regeneration_of_a_waiting_message_waits_too(self, client: APIClient, session: str) -> None:
        first, second = (factories.send_turn(client, session, text).json() for text in ("one", "two"))
        path = f"/api/messages/{second['user_message']}/regenerations/"
        again = client.post(path, {}, format="json").json()
        assert str(Turn.objects.get(pk=again["turn"]).after_id) == first["turn"]
