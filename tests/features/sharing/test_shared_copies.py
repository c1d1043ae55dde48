"""A visitor of a shared link gets a copy of what it shows, in an account of one's own."""

from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from chat.models import ChatMessage, CitedDocument, MessageFile, Run, Session
from tests import factories
from tests.features.sharing.test_sharing import client, session, share

__all__ = ["client", "session"]


def copy(made: dict[str, Any], name: str = "bob") -> Any:
    """The answer to a visitor who logs in and copies what the link shows."""
    visitor = Client()
    visitor.force_login(factories.create_user(name))
    assert visitor.get(made["url"] + "copy/").status_code == 200
    return visitor.post(made["url"] + "copy/")


def test_a_visitor_who_logs_in_gets_a_copy_of_what_the_link_shows(client: APIClient, session: str) -> None:
    run = Run.objects.get(turn__session=session)
    ChatMessage.objects.filter(pk=run.message_id).update(text="Twice [1].", reasoning="Secretly")
    CitedDocument.objects.create(
        message_id=run.message_id,
        number=1,
        document_id="hidden-id",
        title="Tides",
        url="https://moon.example/",
    )
    made = share(client, session)
    factories.complete_turn(client, session, "Later")
    answer = copy(made)
    assert answer.status_code == 302, answer.content
    own = Session.objects.get(pk=answer["Location"].partition("#")[2])
    assert (own.owner.username, own.title, own.project_id) == ("bob", "Tides", None)
    question, answered = ChatMessage.objects.branch_to(own.leaf_id).replies()
    assert (question.text, answered.text, answered.reasoning) == ("Hello", "Twice [1].", "")
    assert (answered.run.model, answered.run.is_imported) == (run.model, True)
    cited = CitedDocument.objects.get(message=answered)
    assert (cited.title, cited.url, cited.document_id) == ("Tides", "https://moon.example/", "shared:1")
    # It goes on there, and the shared chat stays as it is.
    bob = factories.api_client(own.owner)
    factories.complete_turn(bob, str(own.pk), "And then?")
    assert ChatMessage.objects.branch_to(Session.objects.get(pk=own.pk).leaf_id).count() == 5
    assert Session.objects.get(pk=session).messages.count() == 5


def test_a_copy_marks_edited_and_failed_answers_and_names_files_without_their_content(
    client: APIClient, session: str
) -> None:
    first = Run.objects.get(turn__session=session)
    edit = {"text": "Thrice, says Alice."}
    assert client.post(f"/api/messages/{first.message_id}/edits/", edit, format="json").status_code == 201
    factories.complete_turn(client, session, "More")
    failure = {"status": "failed", "error_code": "upstream_error", "error_message": "It broke off."}
    Run.objects.filter(message=Session.objects.get(pk=session).leaf_id).update(**failure)
    asked = ChatMessage.objects.get(text="More")
    picture = factories.create_picture(Session.objects.get(pk=session).owner, "tide.png")
    MessageFile.objects.create(message=asked, file=picture, position=0, number=1)
    answer = copy(share(client, session, shows_details=True))
    own = Session.objects.get(pk=answer["Location"].partition("#")[2])
    _, edited, question, last = ChatMessage.objects.branch_to(own.leaf_id).replies()
    assert (edited.text, edited.edited.model) == ("Thrice, says Alice.", first.model)
    assert (last.run.status, last.run.error_message) == ("failed", "It broke off.")
    [file] = MessageFile.objects.filter(message=question).select_related("file")
    assert (file.file.name, file.file.error_code, file.file.owner) == (
        "tide.png",
        "content_missing",
        own.owner,
    )


def test_a_visitor_without_room_is_told_so(client: APIClient, session: str, settings: Any) -> None:
    made = share(client, session)
    settings.MAX_SESSIONS_PER_USER = 1
    visitor = factories.create_user("bob")
    factories.api_client(visitor).post("/api/sessions/", {}, format="json")
    page = Client()
    page.force_login(visitor)
    answer = page.post(made["url"] + "copy/")
    assert answer.status_code == 409
    assert 'role="alert"' in answer.content.decode()
    assert Session.objects.filter(owner=visitor).count() == 1


def test_a_copy_is_made_only_of_an_open_link_and_after_a_question(client: APIClient, session: str) -> None:
    made = share(client, session)
    stranger = Client()
    assert stranger.get(made["url"] + "copy/")["Location"].startswith("/login/?next=/shared/")
    assert stranger.post(made["url"] + "copy/").status_code == 302
    before = Session.objects.count()
    visitor = Client(enforce_csrf_checks=True)
    visitor.force_login(factories.create_user("bob"))
    assert visitor.get(made["url"] + "copy/").status_code == 200
    assert visitor.post(made["url"] + "copy/").status_code == 403
    client.delete(f"/api/shares/{made['id']}/")
    assert copy_status(made) == [404, 404]
    assert Session.objects.count() == before


def copy_status(made: dict[str, Any]) -> list[int]:
    visitor = Client()
    visitor.force_login(factories.create_user("carol"))
    address = made["url"] + "copy/"
    return [visitor.get(address).status_code, visitor.post(address).status_code]
