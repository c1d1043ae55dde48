"""Generated requests and the checks of their answers, for the tests that compare both with the OpenAPI document.

More of them, of another seed: `CONFORMANCE_EXAMPLES=200 CONFORMANCE_SEED=1 pytest …`.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, negative_data_rejection, positive_data_acceptance

from tests.openapi import document
from tests.web.rest.generated_requests import World, operation_of, undone

SEED: Final = int(os.environ.get("CONFORMANCE_SEED", "91"))
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
    "approvals_decide": {
        positive_data_acceptance: "what a call asks decides whether it takes arguments or values, which no schema can say"
    },
    "auth_password": {
        positive_data_acceptance: "the old password is right or wrong, which no schema can say"
    },
    "files_create": _OF_FORMS,
    "documents_create": _OF_FORMS,
    "documents_replace": _OF_FORMS,
}
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
    schema = schemathesis.openapi.from_dict(deepcopy(document()))
    schema.app = WSGIHandler()
    schema.config.seed = SEED
    schema.config.generation.update(modes=list(GenerationMode), deterministic=True)
    # They are answered while a worker writes the answer, and none runs here.
    return schema.exclude(operation_id=["openai_chat_create", "agui_run"])


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
    failed = answers.never_successful()
    assert failed == [], f"no generated request of these got beyond the checks of its input: {failed}"


def ask(case: Any, world: World, answers: Answers) -> None:
    """Send the request to `world` as it is, and undo what it has changed."""
    world.fill(case)
    with undone():
        answers.request(case, world)
