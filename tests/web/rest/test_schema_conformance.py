"""Requests generated from the OpenAPI document, valid and invalid ones, are answered as the document says.

More of them, of another seed: `CONFORMANCE_EXAMPLES=200 CONFORMANCE_SEED=1 pytest …`.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

import hypothesis
import pytest
import schemathesis
import yaml
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, settings
from rest_framework.test import APIClient
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
    use_after_free,
)

from tests.web.rest.generated_requests import World, operation_of, undone

# The file of a session alone is worth a thousand requests.
pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]
SEED: Final = int(os.environ.get("CONFORMANCE_SEED", "91"))
# Of conversations: operations and statuses that they reach, with so many seeds at most.
REACHED: Final = (("sessions_delete", 204), ("agents_delete", 204))
MOST_WALKS: Final = 10
# Of one operation, besides those at the limits of every value, which are always the same.
EXAMPLES: Final = int(os.environ.get("CONFORMANCE_EXAMPLES", "10"))
# By operation, the checks that cannot hold for it, and why.
_OF_FORMS: Final = {
    positive_data_acceptance: "an empty file is refused, which no schema can say",
    negative_data_rejection: "in a form, numbers and objects are contents of a file as well",
}
EXCLUDED: Final = {
    "auth_tokens_create": {ignored_auth: "it takes the cookies of a login for generated ones"},
    "sessions_import": {
        positive_data_acceptance: "the messages of a file make one tree, and bytes an archive, which no schema can say"
    },
    "sessions_import_foreign": {positive_data_acceptance: "bytes are an export, which no schema can say"},
    "files_create": _OF_FORMS,
    "documents_create": _OF_FORMS,
    "documents_replace": _OF_FORMS,
}
# What one answer says about another; single requests are checked in all ways.
OF_CONVERSATIONS: Final = (
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    use_after_free, ensure_resource_availability,
)  # fmt: skip
# Nothing is shrunk: the failures of one request are told with its curl command.
SETTINGS: Final = settings(
    max_examples=EXAMPLES,
    stateful_step_count=10,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# Any bytes.
schemathesis.serializer.alias("application/zip", "application/octet-stream")


def _schema() -> Any:
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
    schema.app = WSGIHandler()
    schema.config.seed = SEED
    schema.config.generation.update(modes=list(GenerationMode), deterministic=True)
    return schema


SCHEMA: Final = _schema()


class Answers:
    """The statuses of all answers, by operation."""

    def __init__(self) -> None:
        self._statuses: dict[str, Counter[int]] = defaultdict(Counter)

    def request(self, case: Any, world: World) -> None:
        """Send it and check the answer. Raises FailureGroup."""
        excluded = list(EXCLUDED.get(operation_of(case), ()))
        response = case.call_and_validate(excluded_checks=excluded, **world.login(case))
        self._statuses[operation_of(case)][response.status_code] += 1

    def __str__(self) -> str:
        total = sum(sum(statuses.values()) for statuses in self._statuses.values())
        return f"{total} generated requests, seed {SEED}"

    def never_successful(self) -> list[str]:
        return [name for name, statuses in self._statuses.items() if min(statuses) >= 300]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """One for all requests: what they change is undone."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    answers = Answers()
    yield answers
    assert not answers.never_successful(), "no generated request got beyond the checks of its input"


# Of each kind the cheapest: lists, rows, searches, changes, deletions, sends. All operations take minutes.
OF_EVERY_CHANGE: Final = [
    "agents_list", "projects_read", "projects_update", "projects_delete", "runs_read", "runs_cancel", "sessions_list",
    "sessions_delete", "usage_limits_list", "withdrawal_create",
]  # fmt: skip


@SCHEMA.include(operation_id=OF_EVERY_CHANGE).parametrize()
@SETTINGS
def test_generated_requests_are_answered_as_documented(case: Any, world: World, answers: Answers) -> None:
    ask(case, world, answers)


@pytest.mark.full
@SCHEMA.parametrize()
@SETTINGS
def test_every_generated_request_is_answered_as_documented(case: Any, world: World, answers: Answers) -> None:
    ask(case, world, answers)


def ask(case: Any, world: World, answers: Answers) -> None:
    world.fill(case)
    with undone():
        answers.request(case, world)


def test_the_operations_of_every_change_exist() -> None:
    known = {one.ok().definition.raw["operationId"] for one in SCHEMA.get_all_operations()}
    assert set(OF_EVERY_CHANGE) <= known


@pytest.mark.full
def test_what_was_created_is_found_until_it_is_deleted(world: World) -> None:
    """Requests after one another, each about what an earlier one has answered."""
    seen: Counter[tuple[str, int]] = Counter()

    class Conversation(SCHEMA.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            self.undone = undone()
            self.undone.__enter__()

        def teardown(self) -> None:
            self.undone.__exit__(None, None, None)

        def before_call(self, case: Any) -> None:
            world.complete(case)
            world.fill_body(case)

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return world.login(case)

        def validate_response(self, response: Any, case: Any, **options: Any) -> None:
            case.validate_response(
                response, checks=OF_CONVERSATIONS, transport_kwargs=options, recorder=self.recorder
            )
            seen[operation_of(case), response.status_code] += 1

    # What one walk reaches changes with every operation of the API.
    for seed in range(SEED, SEED + MOST_WALKS):
        hypothesis.seed(seed)(Conversation).run(settings=settings(SETTINGS, derandomize=False))
        if all(seen[one] for one in REACHED):
            break
    assert [one for one in REACHED if not seen[one]] == []


def test_the_served_document_is_the_one_that_requests_are_generated_from() -> None:
    served = yaml.safe_load(APIClient().get("/api/schema/").content)
    assert served == yaml.safe_load(yaml.safe_dump(SchemaGenerator().get_schema(request=None, public=True)))
