"""What staff read of calls and approvals: nothing in it is hidden or turns the direction of what follows."""

import json

import pytest
from django import test
from django.urls import reverse

from chat.models import Approval, CitedDocument, Run
from tests import factories
from web.admin.read_only import visible_text

TURNED = {"to": "\u202emoc.elpmaxe@ecila"}


@pytest.mark.pure
@pytest.mark.parametrize(
    "hidden", list("\u202e\u2066\u200b\u200e\ufeff\u00ad\u3164\x00\x1b\r\x7f\u2028\U000e0061")
)
def test_what_is_not_seen_is_an_escape_that_json_reads_back(hidden: str) -> None:
    shown = visible_text(f"a{hidden}b")
    assert shown.isascii()
    assert json.loads(f'"{shown}"') == f"a{hidden}b"


@pytest.mark.django_db
def test_the_page_of_an_answer_shows_its_sources_as_they_are(admin_client: test.Client) -> None:
    client, session = factories.session_of_alice()
    started = factories.send_turn(client, session).json()
    answer = Run.objects.get(pk=started["runs"][0]["id"]).message_id
    CitedDocument.objects.create(
        message_id=answer, number=1, document_id="a", title="\u202eknab", url="https://a.example/\u2066b"
    )
    text = admin_client.get(reverse("admin:chat_chatmessage_change", args=[answer])).content.decode()
    assert (r"\u202eknab" in text, r"a.example/\u2066b" in text) == (True, True)
    assert not {"\u202e", "\u2066"} & set(text)


@pytest.mark.pure
@pytest.mark.parametrize("text", ["مرحبا", "می‌خواهم", "שלום", "क्‍ष", "👨‍👩‍👧", "❤️", "two\nlines"])
def test_texts_of_all_scripts_and_emoji_stay_as_they_are(text: str) -> None:
    assert visible_text(text) == text


@pytest.mark.django_db
def test_pages_of_a_call_and_its_approval_show_the_arguments_as_they_are_sent(
    admin_client: test.Client,
) -> None:
    client, session = factories.session_of_alice()
    started = factories.send_turn(client, session).json()
    run = Run.objects.get(pk=started["runs"][0]["id"])
    call = factories.create_waiting_call(run, {}, TURNED)
    approval = Approval.objects.get()
    for page in (
        reverse("admin:chat_toolcall_change", args=[call.pk]),
        reverse("admin:chat_approval_change", args=[approval.pk]),
        reverse("admin:chat_session_change", args=[session]),
    ):
        text = admin_client.get(page).content.decode()
        assert "\u202e" not in text
        assert r"\u202emoc" in text
