"""Creates the knowledge bases of the screenshots, read and indexed. Runs in `manage.py shell`."""

from django.contrib.auth import get_user_model

from knowledge.models import File, KnowledgeBase, MembershipChange
from tests.indexed import add_indexed
from tests.screenshots import texts


def add_bases() -> None:
    """alice owns one, and is a restricted member of bob's; prints the id of hers."""
    alice, bob, carol = (get_user_model().objects.get(username=name) for name in ("alice", "bob", "carol"))
    KnowledgeBase.objects.start(bob, **texts.HARBOUR_BASE).members.create(user=alice, role="restricted")
    own = KnowledgeBase.objects.start(alice, **texts.HANDBOOK_BASE)
    for title, text in texts.HANDBOOK.items():
        add_indexed(own, title, text, size_bytes=len(text), token_count=len(text) // 4)
    File.objects.create(
        owner=alice,
        knowledge_base=own,
        name="Harbour plan.pdf",
        status="failed",
        error_code="document_encrypted",
    )
    for user, role in ((bob, "editor"), (carol, "restricted")):
        own.members.create(user=user, role=role)
        MembershipChange.objects.create(
            knowledge_base=own.pk, name=own.name, actor="alice", user=user.username, after=role
        )
    print(own.pk)
