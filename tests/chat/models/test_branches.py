"""Paths through the tree, read by one query each."""

from typing import Any

import pytest

from chat.models import ChatMessage, Role, Session
from tests import factories

pytestmark = pytest.mark.django_db


def grow(parent: ChatMessage, *texts: str) -> list[ChatMessage]:
    """A branch below `parent`, each message the latest child of the one above."""
    grown = []
    for text in texts:
        role = Role.ASSISTANT if parent.role == Role.USER else Role.USER
        parent = ChatMessage.objects.append(parent, role=role, text=text)
        parent.choose()
        grown.append(parent)
    return grown


@pytest.fixture
def session() -> Session:
    return Session.objects.start(factories.create_user("alice"))


def texts(messages: Any) -> list[str]:
    return [message.text for message in messages]


def test_a_branch_goes_from_the_root_to_its_leaf(session: Session) -> None:
    *_, leaf = grow(ChatMessage.objects.root_of(session), "one", "1", "two", "2")
    grow(ChatMessage.objects.root_of(session), "uno", "I")
    assert texts(ChatMessage.objects.branch_to(leaf)) == ["", "one", "1", "two", "2"]
    assert [message.depth for message in ChatMessage.objects.branch_to(leaf.pk)] == [4, 3, 2, 1, 0]


def test_a_branch_may_end_anywhere(session: Session) -> None:
    question, _, second, _ = grow(ChatMessage.objects.root_of(session), "one", "1", "two", "2")
    assert texts(ChatMessage.objects.branch_to(second)) == ["", "one", "1", "two"]
    assert texts(ChatMessage.objects.branch_to(question)) == ["", "one"]
    assert texts(ChatMessage.objects.branch_to(ChatMessage.objects.root_of(session))) == [""]


def test_the_current_path_follows_the_latest_children(session: Session) -> None:
    first, *_ = grow(ChatMessage.objects.root_of(session), "one", "1")
    grow(ChatMessage.objects.root_of(session), "uno", "I")
    assert texts(ChatMessage.objects.current_path_from(ChatMessage.objects.root_of(session))) == [
        "",
        "uno",
        "I",
    ]
    first.choose()
    assert texts(ChatMessage.objects.current_path_from(ChatMessage.objects.root_of(session))) == [
        "",
        "one",
        "1",
    ]


def test_a_long_branch_is_one_query(session: Session, django_assert_num_queries: Any) -> None:
    *_, leaf = grow(ChatMessage.objects.root_of(session), *map(str, range(200)))
    with django_assert_num_queries(1):
        assert len(ChatMessage.objects.branch_to(leaf).select_related("run")) == 201


def test_replies_leave_out_the_root_and_summaries(session: Session) -> None:
    question, leaf = grow(ChatMessage.objects.root_of(session), "one", "1")
    ChatMessage.objects.append(question, role=Role.SUMMARY, text="short", last_summarized_message=leaf)
    assert texts(ChatMessage.objects.branch_to(leaf).replies()) == ["one", "1"]


def test_siblings_are_of_one_kind_and_oldest_first(session: Session) -> None:
    (question, first) = grow(ChatMessage.objects.root_of(session), "one", "1")
    second = ChatMessage.objects.append(question, role=Role.ASSISTANT, text="I")
    ChatMessage.objects.append(question, role=Role.SUMMARY, text="short", last_summarized_message=first)
    assert list(second.siblings()) == [first, second]


def test_the_root_has_no_parent_to_choose_it(session: Session) -> None:
    with pytest.raises(ValueError, match="root"):
        ChatMessage.objects.root_of(session).choose()
