"""The quota of stored bytes: sends, further answers and imports are refused until something is deleted."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import PromptBlock, Run, Session, StoredBytes, ToolCall
from chat.models.message_additions import BlockKind
from chat.models.sql.usage import ROW_BYTES
from chat.protocol.errors import ApiError
from chat.sweeper.upkeep import SessionUpkeep
from chat.turns.regeneration import continue_answer
from knowledge.models import File
from tests import factories
from tests.concurrency import run_concurrently
from tests.web.rest.test_quotas import exported, import_of, imported_by, post, refusal, regenerate


@pytest.fixture
def stored(client: APIClient, alice: Any, session: str) -> int:
    """Bytes of one turn, measured."""
    factories.complete_turn(client, session, "Hello")
    SessionUpkeep().run(0.0)
    return StoredBytes.objects.get(user=alice).total


def test_a_send_that_fits_is_accepted_and_one_byte_more_is_not(
    client: APIClient, session: str, stored: int, settings: Any
) -> None:
    settings.MAX_STORED_BYTES_PER_USER = stored + 8
    refused = factories.send_turn(client, session, "Grüße, a")
    assert refusal(refused) == (409, "storage_full", stored + 8)
    assert factories.send_turn(client, session, "xyz", additional_context="123456").status_code == 409
    assert factories.send_turn(client, session, "Grüße,").status_code == 202


def test_neither_another_answer_nor_a_continuation_is_started_without_room(
    client: APIClient, session: str, stored: int, settings: Any
) -> None:
    settings.MAX_STORED_BYTES_PER_USER = stored
    run = Run.objects.for_work().get()
    assert refusal(regenerate(client, str(run.turn.user_message_id)))[1] == "storage_full"
    Run.objects.update(finish_reason="length")
    with pytest.raises(ApiError) as refused:
        continue_answer(Run.objects.for_work().get())
    assert refused.value.code == "storage_full"


def test_a_repeat_still_gets_the_first_answer(client: APIClient, session: str, settings: Any) -> None:
    first = factories.complete_turn(client, session, "Hello", client_message_id="m1")
    SessionUpkeep().run(0.0)
    settings.MAX_STORED_BYTES_PER_USER = 1
    again = factories.send_turn(client, session, "Hello", client_message_id="m1")
    assert (again.status_code, again.json()) == (200, first)


def test_what_is_deleted_is_free_at_once(
    client: APIClient, alice: Any, session: str, stored: int, settings: Any
) -> None:
    settings.MAX_STORED_BYTES_PER_USER = stored
    other = post(client, "/api/sessions/").json()["id"]
    assert factories.send_turn(client, other, "Hello").status_code == 409
    client.delete(f"/api/sessions/{session}/?permanent=1")
    assert StoredBytes.objects.get(user=alice).total == 0
    assert factories.send_turn(client, other, "Hello").status_code == 202


def test_what_staff_deletes_is_free_though_the_sum_is_an_old_one(
    client: APIClient, alice: Any, session: str, stored: int, settings: Any
) -> None:
    settings.MAX_STORED_BYTES_PER_USER = stored
    other = post(client, "/api/sessions/").json()["id"]
    Session.objects.filter(pk=session).delete()
    assert StoredBytes.objects.get(user=alice).total == stored
    assert factories.send_turn(client, other, "Hello").status_code == 202


def test_what_a_tool_returned_beside_its_text_takes_room(
    client: APIClient, alice: Any, session: str, stored: int
) -> None:
    block = "project " * 100
    run = Run.objects.for_work().get()
    call = ToolCall.objects.create(run=run, message=run.message, turn_number=0, name="f", tool_call_id="c")
    PromptBlock.objects.create(message=run.message.parent, kind=BlockKind.PROJECT, text=block)

    def measured() -> int:
        Session.objects.update(is_measured=False)
        SessionUpkeep().run(0.0)
        return StoredBytes.objects.get(user=alice).total

    before = measured()
    assert before > stored + len(block)
    ToolCall.objects.filter(pk=call.pk).update(
        structured=[str(n) for n in range(300)], sent_back={"of": [str(n) for n in range(300)]}
    )
    assert measured() > before + 1000


def test_files_take_room_too_and_others_have_their_own(
    client: APIClient, alice: Any, session: str, stored: int, settings: Any
) -> None:
    settings.MAX_STORED_BYTES_PER_USER = stored + 1000
    File.objects.create(owner=alice, name="tides.txt", size_bytes=990)
    Session.objects.update(is_measured=False)
    SessionUpkeep().run(0.0)
    assert factories.send_turn(client, session, "x" * 11).status_code == 409
    bob = factories.api_client(factories.create_user("bob"))
    other = post(bob, "/api/sessions/").json()["id"]
    assert factories.send_turn(bob, other, "x" * 11).status_code == 202


def test_0_is_no_limit(client: APIClient, session: str, stored: int, settings: Any) -> None:
    settings.MAX_STORED_BYTES_PER_USER = 0
    assert factories.send_turn(client, session, "x" * 1000).status_code == 202
    rows = {row["code"]: row for row in client.get("/api/usage/limits/").json()}
    assert (rows["stored_bytes"]["used"], rows["stored_bytes"]["max"]) == (stored, None)


class TestImports:
    def test_an_import_that_would_exceed_stores_nothing(
        self, client: APIClient, session: str, stored: int, settings: Any
    ) -> None:
        content = exported(client, session)
        settings.MAX_STORED_BYTES_PER_USER = 2 * stored
        assert import_of(client, content).status_code == 201
        assert refusal(import_of(client, content)) == (409, "storage_full", 2 * stored)
        settings.MAX_STORED_BYTES_PER_USER = 3 * stored - 1
        assert refusal(import_of(client, content))[1] == "storage_full"
        assert Session.objects.count() == 2

    def test_an_imported_chat_counts_at_once(
        self, client: APIClient, session: str, stored: int, settings: Any
    ) -> None:
        settings.MAX_STORED_BYTES_PER_USER = 2 * stored + 3
        assert import_of(client, exported(client, session)).status_code == 201
        assert factories.send_turn(client, session, "four").status_code == 409
        assert factories.send_turn(client, session, "two").status_code == 202

    @pytest.mark.django_db(transaction=True)
    def test_side_by_side_they_do_not_exceed_together_even_with_any_number_of_sessions(
        self, client: APIClient, alice: Any, session: str, stored: int, settings: Any
    ) -> None:
        settings.MAX_SESSIONS_PER_USER = 0
        settings.MAX_STORED_BYTES_PER_USER = 3 * stored
        content = exported(client, session)
        imports = [lambda: imported_by(alice, content)] * 6
        assert sorted(run_concurrently(*imports)) == [201] * 2 + [409] * 4
        assert StoredBytes.objects.sum_of(alice.pk) == 3 * stored

    def test_many_short_messages_are_not_free(
        self, client: APIClient, alice: Any, session: str, settings: Any
    ) -> None:
        for _ in range(3):
            factories.complete_turn(client, session, "a")
        settings.MAX_STORED_BYTES_PER_USER = 6 * ROW_BYTES
        assert refusal(import_of(client, exported(client, session)))[1] == "storage_full"
