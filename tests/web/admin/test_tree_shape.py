"""Which part of a tree the admin shows, and which branches are folded."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import ChatMessage, Compression, Role, Run, Session, ToolCall
from tests import factories
from web.admin import tree_shape
from web.admin.tree_shape import FoldedBranch, ShownMessage, TreeEntry, TreeShape


def number(letter: str) -> UUID:
    return UUID(int=ord(letter))


def shape(notation: str) -> TreeShape:
    """ "b<a": b below a, the current one if it is the last below a; "s<c=b": a summary below c, of all up to b."""
    placed: list[TreeEntry] = []
    latest: dict[UUID, UUID] = {}
    for word in notation.split():
        one, _, rest = word.partition("<")
        above, _, cutoff = rest.partition("=")
        role = "summary" if cutoff else "reply" if above else "root"
        placed.append(
            TreeEntry(
                number(one), number(above) if above else None, role, None, number(cutoff) if cutoff else None
            )
        )
        if role == "reply":
            latest[number(above)] = number(one)
    return TreeShape([place._replace(latest_child=latest.get(place.id)) for place in placed])


def drawn(shown: list[ShownMessage]) -> str:
    """ "b(c d)e": e is shown, and instead of it c could be, with d below; a summary is behind its message: "b[s]"."""
    return "".join(_other(one) + _letter(one.id) + _summaries(one) for one in shown)


def _other(one: ShownMessage) -> str:
    return "".join(f"({drawn(folded.shown)}{'' if folded.is_whole else '…'})" for folded in one.others)


def _summaries(one: ShownMessage) -> str:
    return "".join(f"[{_letter(summary)}]" for summary in one.summaries)


def _letter(one: UUID) -> str:
    return chr(one.int)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("tree", "at", "expected"),
    [
        pytest.param("a", None, "", id="nothing was said"),
        pytest.param("a b<a c<b d<c", None, "bcd", id="a line"),
        pytest.param("a b<a c<b x<b y<x", None, "b(c)xy", id="the current branch is open, the other folded"),
        pytest.param(
            "a b<a c<b d<c x<b y<x", "d", "b(xy)cd", id="another branch is open when it is asked for"
        ),
        pytest.param("a b<a c<b d<c x<b y<x", "c", "b(xy)cd", id="from the middle of a branch to its end"),
        pytest.param("a b<a c<b d<c e<d f<d x<b", None, "b(cd(e)f)x", id="a branch of a branch"),
        pytest.param("a b<a c<a d<a", None, "(b)(c)d", id="the first question was edited twice"),
        pytest.param("a b<a c<b d<c s<d=c e<d", None, "bc[s]de", id="a summary stands behind what it covers"),
        pytest.param("a b<a c<b", "z", "bc", id="what is not there is not looked for"),
    ],
)
def test_one_branch_is_open_and_the_others_are_folded(tree: str, at: str | None, expected: str) -> None:
    assert drawn(shape(tree).page(number(at) if at else None).shown) == expected


@pytest.mark.pure
def test_a_long_branch_is_shown_a_page_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_shape, "PAGE", 2)
    long = "a b<a c<b d<c e<d f<e"
    page = shape(long).page()
    assert (drawn(page.shown), page.first, page.total) == ("f", 5, 5)
    assert (page.earlier, page.later) == (number("d"), None)
    middle = shape(long).page(number("d"))
    assert (drawn(middle.shown), middle.first) == ("de", 3)
    assert (middle.earlier, middle.later) == (number("b"), number("f"))


@pytest.mark.pure
def test_folded_branches_end_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_shape, "FOLDED", 2)
    [_, last] = shape("a b<a c<b d<c e<d x<b").page().shown
    [folded] = last.others
    assert (drawn(folded.shown), folded.size, folded.is_whole) == ("cd", 3, False)
    assert isinstance(folded, FoldedBranch)


@pytest.mark.pure
def test_a_branch_of_branches_ends_somewhere() -> None:
    """Each message is regenerated on the branch left by the one before: the maximum nesting."""
    places = [TreeEntry(UUID(int=1), None, "root", None, None)]
    for depth in range(2, 300):
        above = UUID(int=depth - 1)
        places += [
            TreeEntry(UUID(int=depth), above, "reply", None, None),
            TreeEntry(UUID(int=1000 + depth), above, "reply", None, None),
        ]
    assert shape("a b<a").page().total == 1
    assert TreeShape(places).page().total == 1


@pytest.fixture
def session(db: None) -> Session:
    """alice's: two answers to a question, the second with a search inside a research; the first turn summarised."""
    client, pk = factories.session_of_alice()
    first = factories.complete_turn(client, pk, "Why <b>two</b> tides?")
    second = factories.complete_turn(client, pk, "And now?")
    session = Session.objects.get(pk=pk)
    question = ChatMessage.objects.get(pk=second["user_message"])
    run = question.turns.get().runs.get()
    call = ToolCall.objects.create(
        run=run,
        message=run.message,
        turn_number=0,
        tool_call_id="1",
        name="research_agent",
        response="Found.",
    )
    ToolCall.objects.create(
        run=run, parent_tool_call=call, turn_number=0, tool_call_id="2", name="web_search", response="Bulges."
    )
    ChatMessage.objects.append(question, role=Role.ASSISTANT, text="Said before.")
    summary = ChatMessage.objects.append(
        question,
        role=Role.SUMMARY,
        text="They greeted.",
        last_summarized_message_id=first["runs"][0]["message"],
    )
    Compression.objects.create(
        session=session, parent=question, leaf=question, model="quick", triggered_by="auto", status="done",
        ended_at=question.sent_at, summary=summary, tokens_before=900, tokens_after=300,
    )  # fmt: skip
    return session


def page(client: Client, session: Session, **query: Any) -> str:
    url = reverse("admin:chat_session_change", args=[session.pk])
    return client.get(url, query).content.decode()


def test_the_page_of_a_session_shows_its_tree(session: Session) -> None:
    shown = page(factories.staff_client("view_session"), session)
    for part in (
        "Why &lt;b&gt;two&lt;/b&gt; tides?",
        "Another answer",
        "Said before.",
        "research_agent",
        "1 call inside",
        "Bulges.",
        "Summary of the 2 messages up to here",
        "saves 600 tokens",
    ):
        assert part in shown
    assert "<b>two" not in shown
    # Where it stands: behind what it covers, in front of what follows.
    assert shown.index("They greeted.") < shown.index("And now?")


def test_the_tree_shows_what_models_thought_before_what_they_said(session: Session) -> None:
    [call] = ToolCall.objects.filter(name="research_agent")
    ToolCall.objects.filter(pk=call.pk).update(
        reasoning="Ask <b>first</b>.", report_reasoning="Bulges, then."
    )
    inner = ToolCall.objects.get(name="web_search")
    # A second call of the round has the same stored.
    ToolCall.objects.create(
        run=call.run, message=call.message, turn_number=0, tab_index=1, tool_call_id="3", name="current_time",
        reasoning="Ask <b>first</b>.",
    )  # fmt: skip
    ToolCall.objects.filter(pk=inner.pk).update(reasoning="Which words?")
    ChatMessage.objects.filter(pk=call.message_id).update(text="Both.", reasoning="x" * 1_500 + "hidden")
    shown = page(factories.staff_client("view_session"), session)
    places = [
        shown.index(part)
        for part in (
            "Ask &lt;b&gt;first&lt;/b&gt;.",
            "Which words?",
            "Bulges, then.",
            "x" * 1_500 + "…",
            "Both.",
        )
    ]
    assert places == sorted(places)
    assert shown.count("Ask &lt;b&gt;first") == 1
    assert "hidden…" not in shown
    assert shown.count('<details class="reasoning">') == 4


def test_the_other_branch_is_opened_by_its_address(session: Session) -> None:
    other = ChatMessage.objects.get(text="Said before.")
    client = factories.staff_client("view_session")
    shown = page(client, session, at=str(other.pk))
    assert shown.index("research_agent") < shown.index(f'id="m-{other.pk}"')
    assert "And now?" in page(client, session, at="nonsense")


def test_a_larger_tree_takes_no_more_queries(session: Session) -> None:
    client = factories.staff_client("view_session")
    page(client, session)
    with CaptureQueriesContext(connection) as before:
        page(client, session)
    leaf = ChatMessage.objects.tip_of(session)
    for turn in range(10):
        question = ChatMessage.objects.append(leaf, role=Role.USER, text=f"question {turn}")
        for version in range(3):
            leaf = ChatMessage.objects.append(question, role=Role.ASSISTANT, text=f"answer {version}")
    with CaptureQueriesContext(connection) as after:
        page(client, session)
    assert len(after) == len(before)


class TestActions:
    def act(self, client: Client, session: Session, action: str) -> Any:
        return client.post(reverse("admin:chat_session_act", args=[session.pk, action]), follow=True)

    def test_what_is_being_answered_is_stopped(self, session: Session) -> None:
        alice = factories.api_client(session.owner)
        run = factories.send_turn(alice, session.pk, "More").json()["runs"][0]["id"]
        client = factories.staff_client("view_session", "change_session")
        assert "1 run" in self.act(client, session, "stop").content.decode()
        assert Run.objects.get(pk=run).status == "stopped"
        assert "nothing is being answered" in self.act(client, session, "stop").content.decode()

    def test_the_current_branch_is_compressed(self, session: Session) -> None:
        factories.complete_turn(factories.api_client(session.owner), session.pk, "More")
        client = factories.staff_client("view_session", "change_session")
        assert ": queued" in self.act(client, session, "compress").content.decode()
        assert Compression.objects.filter(status="queued", triggered_by="staff").count() == 1

    def test_a_chat_in_the_trash_is_not_compressed(self, session: Session) -> None:
        alice = factories.api_client(session.owner)
        factories.complete_turn(alice, session.pk, "More")
        alice.delete(f"/api/sessions/{session.pk}/")
        client = factories.staff_client("view_session", "change_session")
        assert ": nothing to compress" in self.act(client, session, "compress").content.decode()

    @pytest.mark.parametrize(("action", "ending"), [("export_json", ".json"), ("export_markdown", ".md")])
    def test_a_session_is_exported_by_staff_who_may_read_it(
        self, session: Session, action: str, ending: str
    ) -> None:
        answer = self.act(factories.staff_client("view_session"), session, action)
        assert f'{ending}"' in answer["Content-Disposition"]
        assert b"Said before." in answer.content

    @pytest.mark.parametrize("action", ["stop", "compress"])
    def test_who_may_only_look_can_do_neither(self, session: Session, action: str) -> None:
        client = factories.staff_client("view_session")
        assert self.act(client, session, action).status_code == 403
        assert "act/stop/" not in page(client, session)
        assert not Compression.objects.filter(status="queued").exists()
