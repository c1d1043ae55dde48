"""Every operation of the REST API by everybody. New routes join by themselves."""

import json
import uuid
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.test.client import MULTIPART_CONTENT

from tests.matrix.belongings import MARK, Belongings, fingerprint, ids_of_rows, written_rows
from tests.matrix.operations import (
    BEARER,
    BODIES,
    CONTRACT,
    EVERYBODY,
    NAMED_BY,
    OWN,
    PUBLIC,
    REFERENCES,
    STAFF,
    STAFF_WRITES,
    Operation,
    Reference,
    operations,
    references,
)
from tests.matrix.subjects import (
    FORGED,
    NOBODY,
    OWNER,
    READER,
    SUBJECTS,
    SUPERUSER,
    VIEWER,
    Identity,
    Subject,
    bearer_headers,
    deactivate,
    logged_in,
    trash_sessions,
)

SERVED = "served"
OWNERS = (OWNER, READER, FORGED)
REFUSED_TO_ALL = "invalid_credentials"
# Operations of which the answer does not follow from the permission class, with the reason.
EXCEPTIONS = {
    ("auth_token", None): (REFUSED_TO_ALL, "The body logs in, not the request; the matrix gives a wrong password."),
    ("openai_chat_create", True): ("model_not_found", "Without a worker, no answer ends."),
    ("auth_tokens_create", True): ("permission_denied", "A leaked token does not make others."),
}  # fmt: skip
# Operations that name something of the owner's without an id; in the trash it is found as well.
NAMED_BY_WORDS = {
    "tags_rename": "tag_not_found",
    "tags_delete": "tag_not_found",
    # Of what a server has listed to the owner alone.
    "mcp_resources_attach": "mcp_resource_not_found",
    "mcp_prompts_fill": "mcp_prompt_not_found",
}
# What a body must say beside the row that it names, or the row is not looked for.
BESIDE_A_ROW = {"auth_tokens_create": {"scope": "agent"}}
# The users of the matrix have no password to change.
WITHOUT_PASSWORD = {"auth_password"}
# What a refused request may write, beside ending a login that is not valid any more: attempts are counted.
WRITTEN_BY_REFUSED = {"auth_token": ("chat_loginlimit",)}


class Outcome(NamedTuple):
    """answer: SERVED or the error's code. The rest must be empty."""

    answer: str
    leaked: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def expected(operation: Operation, subject: Subject) -> str:
    for has_token in (None, subject.has_token):
        exception = EXCEPTIONS.get((operation.id, has_token))
        if exception and (has_token is None or subject.standing not in (NOBODY, READER)):
            return exception[0]
    if operation.access == PUBLIC:
        # Links are closed while their owner is deactivated or their session in the trash.
        return (
            "share_not_found" if operation.nouns and subject.ends in (deactivate, trash_sessions) else SERVED
        )
    if operation.access == BEARER and not (subject.has_token and subject.standing != NOBODY):
        return "invalid_api_key"
    if subject.standing == NOBODY:
        return "not_authenticated"
    if not operation.is_safe and subject.standing in (READER, FORGED):
        return "token_read_only" if subject.standing == READER else "csrf_failed"
    return "permission_denied" if operation.id in WITHOUT_PASSWORD else allowed(operation, subject)


def allowed(operation: Operation, subject: Subject) -> str:
    """For somebody who is logged in, by who may ask."""
    if operation.access == STAFF:
        may = subject.standing == SUPERUSER or (operation.is_safe and subject.standing == VIEWER)
        return SERVED if may else "permission_denied"
    is_owner = subject.standing in OWNERS
    if operation.id in NAMED_BY_WORDS:
        return SERVED if is_owner else NAMED_BY_WORDS[operation.id]
    if operation.access in (EVERYBODY, STAFF_WRITES):
        may = operation.is_safe or operation.access == EVERYBODY or subject.standing == SUPERUSER
        return SERVED if may else "permission_denied"
    if operation.access == CONTRACT:
        may = subject.has_token or subject.standing in (VIEWER, SUPERUSER)
        return SERVED if may else "permission_denied"
    assert operation.access in (OWN, BEARER)
    is_trashed = subject.ends is trash_sessions and is_in_a_session(operation)
    if not operation.nouns or (is_owner and not is_trashed):
        return SERVED
    return (
        "not_found"
        if operation.nouns[0] in ("response_id", "conversation_id")
        else f"{operation.nouns[0]}_not_found"
    )


def is_in_a_session(operation: Operation) -> bool:
    """Whether what it names goes with a session into the trash."""
    named = operation.nouns[:1]
    return named in {
        ("session",),
        ("message",),
        ("run",),
        ("turn",),
        ("share",),
        ("tool_call",),
        ("conversation_id",),
    } and not operation.id.startswith("trash_")


def send(client: Client, operation: Operation, address: str, body: Any) -> tuple[str, str]:
    """SERVED, or the error's code; and the whole body."""
    given: dict[str, Any] = {}
    if operation.is_form:
        given = {"data": as_form(body or {}), "content_type": MULTIPART_CONTENT}
    elif operation.is_binary:
        given = {"data": json.dumps(body), "content_type": "application/octet-stream"}
    elif not operation.is_safe:
        given = {"data": body or {}, "content_type": "application/json"}
    if operation.access == BEARER:
        given["headers"] = bearer_headers(client)
    response = getattr(client, operation.method)(address, **given)
    parts = response.streaming_content if response.streaming else [response.content]
    text = b"".join(parts).decode(errors="replace")
    assert response.status_code < 500, f"{operation.id}: {response.status_code} {text[:500]}"
    if response.status_code < 300:
        return SERVED, text
    error = response.json()["error"] if operation.access == BEARER else response.json()
    return error["code"], text


def as_form(body: dict[str, Any]) -> dict[str, Any]:
    return {
        name: SimpleUploadedFile("tides.txt", value) if isinstance(value, bytes) else value
        for name, value in body.items()
    }


class Ask(NamedTuple):
    """One cell of the matrix."""

    operation: Operation
    subject: Subject
    identity: Identity
    owned: Belongings

    def outcome(self, secrets: set[str]) -> Outcome:
        """In a transaction that is rolled back."""
        is_served = expected(self.operation, self.subject) == SERVED
        is_about_own = self.operation.access not in (OWN, BEARER) or self.subject.standing in OWNERS
        ask = self.served if is_served and not is_about_own else self.refused
        with transaction.atomic():
            self.subject.ends(self.owned)
            answer, text, changed = ask()
            transaction.set_rollback(True)
        if is_served and is_about_own:
            return Outcome(answer)
        return Outcome(answer, tuple(sorted(one for one in secrets if one in text)), tuple(sorted(changed)))

    def refused(self) -> tuple[str, str, set[str]]:
        """The third: tables that were written to."""
        before = written_rows()
        answer, text = self.send()
        ignored = {*WRITTEN_BY_REFUSED.get(self.operation.id, ()), "django_session"}
        return answer, text, {table for table, _ in written_rows().items() - before.items()} - ignored

    def served(self) -> tuple[str, str, set[str]]:
        """The third: tables of which a row that was there has changed. Others may add their own."""
        before = fingerprint()
        answer, text = self.send()
        return answer, text, {table for table, _ in before - fingerprint()}

    def send(self) -> tuple[str, str]:
        operation = self.operation
        return send(
            self.identity.client(), operation, operation.address(self.owned.ids), operation.body(self.owned)
        )


def each_operation() -> list[Any]:
    return [pytest.param(one, id=f"{one.method} {one.path}") for one in operations()]


# Of every change: a subject of each standing. That a login or a token is not valid any more is found by the authentication,
# which all operations share: three are asked by everybody, and the public ones, some of which end with their owner.
OF_EACH_STANDING = (
    "anonymous", "another user, cookie", "staff who view, token", "superuser, cookie", "another site", "token for reading",
    "owner, cookie", "owner, trashed sessions",
)  # fmt: skip
ASKED_BY_EVERYBODY = ("sessions_read", "sessions_update", "auth_tokens_create")


@pytest.fixture(scope="module")
def secrets(
    built_world: tuple[Belongings, Belongings], identities: dict[str, Identity], django_db_blocker: Any
) -> set[str]:
    """What no refusal says."""
    with django_db_blocker.unblock():
        return built_world[0].secrets | ids_of_rows()


@pytest.mark.parametrize("operation", each_operation())
def test_everybody_gets_what_the_rules_say(
    owned: Belongings, identities: dict[str, Identity], secrets: set[str], operation: Operation
) -> None:
    """The owner is served, so that nothing but who asks is the reason of a refusal."""
    by_everybody = operation.id in ASKED_BY_EVERYBODY or operation.access == PUBLIC
    asking = [one for one in SUBJECTS if by_everybody or one.name in OF_EACH_STANDING]
    check_outcomes([Ask(operation, one, identities[one.name], owned) for one in asking], secrets)


@pytest.mark.full
@pytest.mark.parametrize("operation", each_operation())
def test_everybody_gets_what_the_rules_say_of_every_operation(
    owned: Belongings, identities: dict[str, Identity], secrets: set[str], operation: Operation
) -> None:
    check_outcomes([Ask(operation, one, identities[one.name], owned) for one in SUBJECTS], secrets)


def check_outcomes(asked: list[Ask], secrets: set[str]) -> None:
    found = {one.subject.name: one.outcome(secrets) for one in asked}
    assert found == {one.subject.name: Outcome(expected(one.operation, one.subject)) for one in asked}


# A public link is its own permission; everybody sees what staff alone write, and signs in to their servers.
PRIVATE = [
    one
    for one in each_operation()
    if one.values[0].nouns
    and one.values[0].access not in (PUBLIC, EVERYBODY)
    and not (one.values[0].access == STAFF_WRITES and one.values[0].is_safe)
]


@pytest.mark.parametrize("operation", PRIVATE)
def test_what_belongs_to_another_is_answered_as_what_does_not_exist(
    owned: Belongings, identities: dict[str, Identity], operation: Operation
) -> None:
    login = "token" if operation.access == BEARER else "cookie"
    mallory = identities[f"another user, {login}"].client()
    absent = {name: str(uuid.uuid4()) for name in owned.ids}
    answers = [
        send(mallory, operation, operation.address(ids), operation.body(owned)) for ids in (owned.ids, absent)
    ]
    bodies = [json.loads(text) | {"request_id": ""} for _, text in answers]
    assert bodies[0] == bodies[1]


def each_reference() -> list[Any]:
    return [pytest.param(one, id=f"{one.operation.id} {'.'.join(one.path)}") for one in references()]


@pytest.mark.parametrize("reference", each_reference())
def test_a_row_of_another_that_a_body_or_a_query_names_is_not_found(
    world: tuple[Belongings, Belongings], reference: Reference
) -> None:
    """Asked about own rows, and answered as for a row that does not exist."""
    theirs, own = world
    operation, name = reference.operation, reference.path[-1]
    assert name in REFERENCES, f"{name} of {operation.id}: add to REFERENCES which row it is an example of"
    client = logged_in(own.user).client()
    before = written_rows()
    answers = []
    for named in (theirs.ids[REFERENCES[name]], str(uuid.uuid4())):
        address, body = operation.address(own.ids), operation.body(own)
        if reference.is_query:
            address += f"?{name}={named}"
        else:
            body = (body or {}) | BESIDE_A_ROW.get(operation.id, {})
            body = with_member(body, reference.path, [named] if reference.is_list else named)
        answers.append(send(client, operation, address, body))
        assert answers[-1][0].endswith("_not_found"), answers[-1]
    bodies = [json.loads(text) | {"request_id": ""} for _, text in answers]
    assert bodies[0] == bodies[1]
    assert written_rows() == before


def with_member(body: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The body with the member that the path leads to."""
    inner = value if len(path) == 1 else with_member(body.get(path[0], {}), path[1:], value)
    return {**body, path[0]: inner}


def test_the_matrix_knows_every_kind_of_access_and_finds_operations() -> None:
    assert {operation.access for operation in operations()} == {
        PUBLIC, EVERYBODY, OWN, STAFF, CONTRACT, STAFF_WRITES, BEARER,
    }  # fmt: skip
    assert len(operations()) > 40
    known = {one.id for one in operations()}
    assert set(ASKED_BY_EVERYBODY) <= known
    asking = [one for one in SUBJECTS if one.name in OF_EACH_STANDING]
    assert len(asking) == len(OF_EACH_STANDING)
    assert {one.standing for one in asking} == {one.standing for one in SUBJECTS}
    assert {operation for operation, _ in EXCEPTIONS} | set(WRITTEN_BY_REFUSED) <= known
    assert set(NAMED_BY) | set(BODIES) | set(BESIDE_A_ROW) <= known
    assert {one.path[-1] for one in references()} | {"before"} == set(REFERENCES)


def test_a_search_finds_nothing_of_others(owned: Belongings, identities: dict[str, Identity]) -> None:
    found = {
        name: identities[name].client().get("/api/sessions/", {"search": MARK}).json()["results"]
        for name in ("owner, cookie", "another user, cookie", "superuser, token")
    }
    assert {name for name, results in found.items() if results} == {"owner, cookie"}
