"""The users and models of the REST tests."""

from tests.web.rest.conftest import alice, client, session

__all__ = ["alice", "client", "session"]
