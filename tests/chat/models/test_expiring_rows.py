"""What a user begins and what expires by itself: the latest ones stay, whatever the same user begins meanwhile."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.db.models.signals import post_save

from chat.models import McpRequest, McpServer, McpSignIn
from tests import factories


@pytest.fixture(params=[McpRequest, McpSignIn])
def crowded_out(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A model whose rows are deleted as soon as they are committed: by 50 other requests of the user at that moment."""
    model = request.param

    def delete_at_commit(instance: Any, **_: Any) -> None:
        transaction.on_commit(lambda: model.objects.filter(pk=instance.pk).delete())

    post_save.connect(delete_at_commit, sender=model)
    yield model
    post_save.disconnect(delete_at_commit, sender=model)


@pytest.mark.django_db(transaction=True)
def test_what_gives_way_to_later_ones_at_once_was_begun_all_the_same(crowded_out: Any) -> None:
    server = McpServer.objects.create(name="tides", transport="http", url="https://mcp.example.com/mcp")
    asked = {"redirect_uri": "https://a.example/"} if crowded_out is McpSignIn else {"kind": "prompt"}
    begun = crowded_out.objects.begin(factories.create_user("alice"), server, **asked)
    assert begun.expires_at.tzinfo
    assert not crowded_out.objects.exists()
