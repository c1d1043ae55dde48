"""The same people and models as beside the API."""

from tests.web.rest.conftest import alice, client, session

__all__ = ["alice", "client", "session"]
