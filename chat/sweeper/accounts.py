"""Deletes accounts whose deletion was requested: some of their rows at a time, in short transactions. Idempotent."""

import logging
import time
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import Exists, OuterRef

from chat.models import AccountDeletion, Session
from chat.protocol.errors import ApiError
from chat.sessions.deletion import delete_for_good
from chat.sweeper.base_deletion import delete_base, purge_base
from chat.sweeper.periodic import attempt_repair
from knowledge.files import blobs
from knowledge.models import File, KnowledgeBase, KnowledgeBaseMember

logger = logging.getLogger(__name__)

# Time per sweep.
DELETE_S: Final = 5.0
# Files per transaction.
BATCH: Final = 20


def delete_accounts() -> int:
    """Delete for at most DELETE_S; return the number of steps. An account that cannot be deleted delays no other."""
    limit = time.monotonic() + DELETE_S
    steps = 0
    for deletion in AccountDeletion.objects.select_related("user").order_by("requested_at", "pk"):
        while time.monotonic() < limit and _attempt(deletion.user):
            steps += 1
    return steps


def _attempt(user: User) -> bool:
    """Make one step; return whether there is another one."""
    try:
        return bool(attempt_repair(f"deleted account {user.pk}", _delete_some, user))
    except (IntegrityError, ApiError) as error:
        # An heir of a base has left meanwhile, or something was deleted at the same time.
        logger.warning("account %s is deleted with a later sweep: %s", user.pk, error)
        return False


def _delete_some(user: User) -> int:
    """Delete a session, a base or some of its documents, some files, or at last the account; return 0 after that."""
    if session := Session.with_trash.filter(owner=user).order_by("pk").first():
        delete_for_good(session)
    elif base := KnowledgeBase.objects.exclude(_has_members()).filter(owner=user).first():
        purge_base(base)
    elif base := KnowledgeBase.objects.exclude(_has_heirs(user)).filter(owner=user).first():
        delete_base(base, user)
    elif files := _own_files(user):
        File.objects.filter(pk__in=files).delete()
        blobs.purge_on_commit()
    else:
        logger.info("account %s is deleted", user.pk)
        user.delete()
        return 0
    return 1


def _own_files(user: User) -> list[Any]:
    files = File.objects.filter(owner=user, knowledge_base=None).order_by("pk")
    return list(files.values_list("pk", flat=True)[:BATCH])


def _has_members() -> Exists:
    return Exists(KnowledgeBaseMember.objects.filter(knowledge_base=OuterRef("pk")))


def _has_heirs(user: User) -> Exists:
    heirs = KnowledgeBaseMember.objects.heirs()
    return Exists(heirs.filter(knowledge_base=OuterRef("pk")).exclude(user=user))
