"""Requests of every operation, and conversations of them, are answered as the OpenAPI document says.

In a file of its own: Schemathesis generates requests when it is imported, which takes as long as to import all other tests.
"""

# ruff: noqa: F811  fixtures that are imported are parameters as well

from collections import Counter
from typing import Any, Final

import hypothesis
import pytest
from hypothesis import settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    response_schema_conformance,
    status_code_conformance,
    use_after_free,
)

from tests.web.rest.conformance import SCHEMA, SEED, SETTINGS, Answers, answers, ask, world  # noqa: F401  fixtures
from tests.web.rest.generated_requests import World, operation_of, undone

# The file of a session alone is worth a thousand requests.
pytestmark = [pytest.mark.full, pytest.mark.django_db, pytest.mark.timeout(600)]
# Of conversations: operations and statuses that they reach, with so many seeds at most.
REACHED: Final = (("sessions_delete", 204), ("agents_delete", 204))
MOST_WALKS: Final = 10
# What one answer says about another; single requests are checked in all ways.
OF_CONVERSATIONS: Final = (
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    use_after_free, ensure_resource_availability,
)  # fmt: skip


@SCHEMA.parametrize()
@SETTINGS
def test_every_generated_request_is_answered_as_documented(
    case: Any,
    world: World,
    answers: Answers,
) -> None:
    ask(case, world, answers)


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
