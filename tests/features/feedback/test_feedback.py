"""Feedback on an answer: stored, shown with it, replaced and removed."""

from rest_framework.test import APIClient

from tests import factories


def test_feedback_is_shown_and_forgotten(client: APIClient, session: str) -> None:
    answer = factories.complete_turn(client, session)["runs"][0]["message"]
    path = f"/api/messages/{answer}/feedback/"
    assert client.put(path, {"is_positive": False, "text": "No."}, format="json").status_code == 200
    assert client.put(path, {"is_positive": True}, format="json").json() == {
        "is_positive": True,
        "text": "",
    }
    newest = client.get(f"/api/sessions/{session}/messages/").json()[-1]
    assert newest["feedback"] == {"is_positive": True, "text": ""}
    assert client.delete(path).status_code == 204
    assert "feedback" not in client.get(f"/api/sessions/{session}/messages/").json()[-1]
