"""Every command of the socket by everybody. New commands join by themselves, from the AsyncAPI document."""

import json
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.contrib.auth import get_user_model

from chat.infrastructure.redis_client import sync_redis
from tests import factories
from tests.matrix import asyncapi, belongings, wire
from tests.matrix.belongings import Belongings, fingerprint
from tests.matrix.subjects import (
    FORGED,
    NOBODY,
    OTHER,
    OWNER,
    READER,
    SUBJECTS,
    SUPERUSER,
    VIEWER,
    Identity,
    Subject,
    trash_sessions,
)
from web.socket.commands import COMMANDS
from web.socket.consumer import _HANDLERS

pytestmark = pytest.mark.django_db(transaction=True)

# Members of commands -> what of the owner is named; of single commands, where another row is the one that fits.
NAMED = {"session": "session", "run": "live_run", "turn": "live_turn", "tool_call": "tool_call"}
NAMED_BY = {"continue": {"run": "cut_run"}}
# Members that name rows beside the session that the command is about.
IN_OWN_SESSIONS = {"parent": "answer", "files": "file", "knowledge_bases": "knowledge_base"}
LISTS = {"files", "knowledge_bases"}
# Values of the other required members.
VALUES = {"text": "Hello", "approved": True}
# Commands with optional members that name rows: each way to give them is asked for.
WAYS: dict[str, list[tuple[str, ...]]] = {"stop": [("run",), ("turn",)]}
REPLY_TO = {
    "ping": "pong", "subscribe": "subscribed", "unsubscribe": "unsubscribed", "watch_sessions": "sessions_watched",
    "stop": "stopping",
}  # fmt: skip


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with wire.web() as address:
        yield address


@pytest.fixture
def owned(transactional_db: None) -> Belongings:
    sync_redis().flushdb()
    belongings.create_models()
    return belongings.create_belongings("alice")


class Case(NamedTuple):
    """A command, with the members that it must have and these."""

    kind: str
    also: tuple[str, ...] = ()

    @property
    def members(self) -> list[str]:
        return [*(name for name in asyncapi.commands()[self.kind]["required"] if name != "type"), *self.also]

    def example(self, ids: dict[str, str]) -> dict[str, Any]:
        """A valid command about these rows."""
        command: dict[str, Any] = {"type": self.kind}
        for name in self.members:
            named = NAMED_BY.get(self.kind, {}).get(name) or NAMED.get(name)
            assert named or name in VALUES, f"{name} of {self.kind}: add an example to NAMED or VALUES"
            command[name] = ids[named] if named else VALUES[name]
        assert asyncapi.is_valid_command(command), command
        return command

    def expected(self, subject: Subject) -> str:
        """The type of the reply, or the code of the error."""
        if subject.standing == READER and COMMANDS[self.kind] in _HANDLERS:
            return "token_read_only"
        named = [name for name in self.members if name in NAMED]
        if subject.ends is trash_sessions and named and self.kind != "unsubscribe":
            return f"{named[0]}_not_found"
        # Nothing is looked up when a socket forgets a session.
        if subject.standing in (OTHER, VIEWER, SUPERUSER) and named and self.kind != "unsubscribe":
            return f"{named[0]}_not_found"
        return REPLY_TO.get(self.kind, "accepted")


def cases() -> list[Case]:
    return [Case(kind, also) for kind in asyncapi.commands() for also in WAYS.get(kind, [()])]


def test_every_command_may_be_named_and_followed() -> None:
    for described in asyncapi.commands().values():
        assert {"type", "id", "request_id"} <= set(described["properties"])


@pytest.mark.parametrize("kind", sorted(asyncapi.commands()))
def test_every_member_that_names_a_row_is_asked_for(kind: str) -> None:
    asked = {name for case in cases() if case.kind == kind for name in case.members} | set(IN_OWN_SESSIONS)
    missing = set(asyncapi.ids_in(asyncapi.commands()[kind])) - asked
    assert not missing, f"{missing} of {kind}: add to WAYS or IN_OWN_SESSIONS"


@pytest.mark.parametrize(
    "subject", [one for one in SUBJECTS if one.standing == NOBODY], ids=lambda one: one.name
)
def test_a_socket_of_nobody_is_closed(address: str, transactional_db: None, subject: Subject) -> None:
    someone = Belongings(factories.create_user("somebody"))
    identity = subject.identity(someone)
    subject.ends(someone)
    with wire.opened(address, identity) as socket:
        assert socket.close_code() == 4401
        assert socket.seen == []


LOGGED_IN = [one for one in SUBJECTS if one.standing not in (NOBODY, FORGED)]


@pytest.mark.parametrize("subject", LOGGED_IN, ids=lambda one: one.name)
def test_everybody_gets_what_the_rules_say(address: str, owned: Belongings, subject: Subject) -> None:
    secrets = owned.secrets
    subject.ends(owned)
    found, faults, changed, leaked = {}, [], [], []
    with wire.opened(address, subject.identity(owned)) as socket:
        for case in cases():
            before = fingerprint()
            reply = socket.ask(**case.example(owned.ids))
            found[case] = reply["code"] if reply["type"] == "error" else reply["type"]
            if (subject.standing != OWNER or reply["type"] == "error") and fingerprint() != before:
                changed.append(case)
            if subject.standing not in (OWNER, READER) and case.kind != "unsubscribe":
                leaked += [one for one in secrets if one in json.dumps(reply)]
        faults = socket.faults
    assert found == {case: case.expected(subject) for case in cases()}
    assert (changed, leaked, faults) == ([], [], [])


def test_what_belongs_to_another_is_answered_as_what_does_not_exist(address: str, owned: Belongings) -> None:
    other = next(one for one in SUBJECTS if one.standing == OTHER)
    absent = {name: str(uuid.uuid4()) for name in owned.ids}
    with wire.opened(address, other.identity(owned)) as socket:
        for case in cases():
            theirs, none = (socket.ask(**case.example(ids)) for ids in (owned.ids, absent))
            assert theirs == none or case.kind == "unsubscribe", case


def test_rows_of_another_that_an_own_command_names_are_not_found(address: str, owned: Belongings) -> None:
    theirs, own = owned, belongings.create_belongings("bob")
    asked = []
    with wire.opened(address, next(one for one in SUBJECTS if one.standing == OWNER).identity(own)) as socket:
        for case in cases():
            for name in set(asyncapi.commands()[case.kind]["properties"]) & set(IN_OWN_SESSIONS):
                value = theirs.ids[IN_OWN_SESSIONS[name]]
                before = fingerprint()
                reply = socket.ask(**case.example(own.ids), **{name: [value] if name in LISTS else value})
                assert reply["code"].endswith("_not_found"), (case, name, reply)
                assert fingerprint() == before
                asked.append(name)
        assert set(asked) == set(IN_OWN_SESSIONS)
        cursors = {theirs.ids["run"]: {"attempt": 1, "seq": 1}}
        reply = socket.ask(type="subscribe", session=own.ids["session"], cursors=cursors)
        assert (reply["type"], reply["runs"]) == ("subscribed", [])


ENDING = [
    one for one in SUBJECTS if one.standing == NOBODY and one.name not in ("anonymous", "unknown token")
]


@pytest.mark.parametrize("subject", ENDING, ids=lambda one: one.name)
def test_a_command_after_the_login_has_ended_closes_the_socket_and_does_nothing(
    address: str, owned: Belongings, subject: Subject
) -> None:
    """Nobody announces that it has ended; so only the command itself finds out."""
    row = get_user_model().objects.filter(pk=owned.user.pk)
    kept = row.values("is_active", "password").get()
    for case in cases():
        with wire.opened(address, subject.identity(owned)) as socket:
            assert socket.ask(type="ping")["type"] == "pong"
            subject.ends(owned)
            before = fingerprint("django_session")
            socket.say(**case.example(owned.ids))
            assert socket.close_code() == 4401, case
            assert [one["type"] for one in socket.seen] == ["pong"], case
            assert fingerprint("django_session") == before, case
        row.update(**kept)


def test_a_token_becomes_one_for_reading_while_its_socket_is_open(address: str, owned: Belongings) -> None:
    from chat.models import Scope, TokenScope

    row, text = TokenScope.objects.create_token(owned.user)
    with wire.opened(address, Identity(headers={"Authorization": f"Token {text}"})) as socket:
        assert socket.ask(type="ping")["type"] == "pong"
        TokenScope.objects.filter(token=row).update(scope=Scope.READ)
        for case in (one for one in cases() if one.kind in _HANDLERS):
            before = fingerprint()
            assert socket.ask(**case.example(owned.ids))["code"] == "token_read_only"
            assert fingerprint() == before
