"""One real stack for all end-to-end tests of a session; the upstream's script is cleared before each."""

from collections.abc import Iterator

import pytest

from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream


@pytest.fixture(scope="session")
def running_stack(services: Services) -> Iterator[Stack]:
    with Upstream() as upstream, Stack.running(services, upstream) as stack:
        yield stack


@pytest.fixture
def stack(running_stack: Stack) -> Stack:
    running_stack.upstream.reset()
    return running_stack
