"""KnowledgeBase: documents that several people search. KnowledgeBaseMember: who, in which role. MembershipChange: who
changed that."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Case, Exists, F, Q, When
from django.db.models.functions import Now
from django.utils import timezone

from knowledge.models.account_deletion import cascade_without_another_owner
from knowledge.models.referenced_row import ReferencedRow

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_TOPICS: Final = 30
MAX_TOPIC_CHARACTERS: Final = 100
MAX_HINT_CHARACTERS: Final = 200
MAX_KEYWORDS: Final = 5
MAX_KEYWORD_CHARACTERS: Final = 48
# All that restricted members see of a base, beside its owner.
OUTLINE: Final = frozenset({"name", "routing_hint", "routing_keywords"})
# Of staff who may read what bases hold: summaries, topics, documents, and what searches find.
CONTENTS_PERMISSION: Final = "knowledge.view_knowledge_base_contents"


class MemberRole(models.TextChoices):
    OWNER = "owner"  # manages members, and deletes the base
    EDITOR = "editor"  # adds, replaces and deletes documents
    READER = "reader"
    # Reads no title and no text: only what a secondary model makes of them (docs/decisions/0117).
    RESTRICTED = "restricted"


# Those that may read documents.
READING: Final = frozenset({MemberRole.OWNER, MemberRole.EDITOR, MemberRole.READER})
EDITING: Final = frozenset({MemberRole.OWNER, MemberRole.EDITOR})


class KnowledgeBaseQuerySet(models.QuerySet["KnowledgeBase"]):
    # Mutators

    def start(self, owner: User, **fields: Any) -> KnowledgeBase:
        """A new base with its creator as its first member."""
        with transaction.atomic():
            base = self.create(owner=owner, **fields)
            member = base.members.create(user=owner, role=MemberRole.OWNER)
        base.role, base.member = MemberRole.OWNER, member.pk
        base.is_accepted = base.is_ownership_accepted = True
        return base

    # Queries

    def visible_to(self, user: User | int) -> Self:
        """Those that the user is a member of, in whichever role."""
        return self.filter(pk__in=KnowledgeBaseMember.objects.filter(user=user).values("knowledge_base"))

    def readable_by(self, user: User | int) -> Self:
        """Those whose documents the user may read."""
        reading = KnowledgeBaseMember.objects.filter(user=user, role__in=sorted(READING))
        return self.filter(pk__in=reading.values("knowledge_base"))

    def searchable_by(self, user: User | int, bases: Iterable[UUID]) -> Self:
        """Those of `bases` whose documents the user may read; none if the user may not read those of any one of them."""
        bound = KnowledgeBaseMember.objects.filter(user=user, knowledge_base__in=list(bases))
        barred = bound.exclude(role__in=sorted(READING))
        return self.readable_by(user).filter(~Exists(barred), pk__in=list(bases))

    def with_role_of(self, user: User) -> Self:
        """Those that the user is a member of, each with the user's `role`, the id of that `member`, and what of it is accepted.

        The latest `changed_at` first: by what the role sees, since an order tells of changes as well as a time does.
        """
        own = self.filter(members__user=user).annotate(
            role=F("members__role"),
            member=F("members__pk"),
            is_accepted=F("members__is_accepted"),
            is_ownership_accepted=F("members__is_ownership_accepted"),
        )
        is_read = When(role__in=sorted(READING), then=F("updated_at"))
        return own.annotate(changed_at=Case(is_read, default=F("outline_updated_at"))).order_by(
            "-changed_at", "-pk"
        )

    def deleted(self) -> Self:
        """Those without members, which nobody reaches any more (chat/knowledge_bases/deletion.py)."""
        return self.filter(members__isnull=True)

    def after(self, base: KnowledgeBase) -> Self:
        """Of those with a role: the ones behind `base` in their order."""
        older = Q(changed_at__lt=base.changed_at)
        return self.filter(older | Q(changed_at=base.changed_at, pk__lt=base.pk))


class KnowledgeBase(ReferencedRow):
    """owner: one of the owners among its members, whose quotas it counts in; the role of a member decides what is allowed.

    routing_hint, routing_keywords: all that restricted members and their models see of what it holds beside its name.
    updated_at: of anything, documents and members included.  outline_updated_at: of what restricted members see.
    """

    # Of the user who asks, from with_role_of.
    role: MemberRole
    member: UUID
    is_accepted: bool
    is_ownership_accepted: bool
    changed_at: datetime

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade_without_another_owner, related_name="knowledge_bases"
    )
    name = models.CharField(max_length=200)
    summary = models.TextField(blank=True, default="")
    topics = ArrayField(models.CharField(max_length=MAX_TOPIC_CHARACTERS), default=list, blank=True)
    routing_hint = models.CharField(max_length=MAX_HINT_CHARACTERS, blank=True, default="")
    routing_keywords = ArrayField(
        models.CharField(max_length=MAX_KEYWORD_CHARACTERS), default=list, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    outline_updated_at = models.DateTimeField(db_default=Now())

    objects = KnowledgeBaseQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        verbose_name = "knowledge base"
        permissions = [("view_knowledge_base_contents", "Can view what knowledge bases hold")]
        indexes = [models.Index(fields=["-updated_at", "-id"], name="knowledge_base_by_update")]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="knowledge_base_has_a_name")]

    def __str__(self) -> str:
        return self.name

    # Mutators

    def change(self, **fields: Any) -> bool:
        """Set what members may edit, in the row and here. False: the row was deleted, and nothing was changed."""
        fields["updated_at"] = timezone.now()
        outline = {name: value for name, value in fields.items() if name in OUTLINE}
        changed = {"outline_updated_at": _when_changed(outline, fields["updated_at"])} if outline else {}
        with transaction.atomic():
            if not type(self).objects.filter(pk=self.pk).update(**fields, **changed):
                return False
            if changed:
                self.refresh_from_db(fields=list(changed))
        for name, value in fields.items():
            setattr(self, name, value)
        return True

    def pass_on(self, owner_id: int) -> None:
        """Let it count for another owner, who has agreed, with its documents."""
        now = timezone.now()
        self.owner_id, self.updated_at, self.outline_updated_at = owner_id, now, now
        self.save(update_fields=["owner", "updated_at", "outline_updated_at"])
        self.documents.update(owner=owner_id)
        self.members.filter(user=owner_id).update(is_accepted=True, is_ownership_accepted=True)


def _when_changed(outline: Mapping[str, Any], now: datetime) -> Case:
    return Case(When(~Q(**outline), then=now), default=F("outline_updated_at"))


class KnowledgeBaseMemberQuerySet(models.QuerySet["KnowledgeBaseMember"]):
    # Mutators

    def accept(self, user: User | int, bases: Iterable[UUID]) -> list[UUID]:
        """Accept the user's pending memberships of these bases; return the bases of those."""
        pending = self.filter(user=user, knowledge_base__in=list(bases), is_accepted=False)
        found = list(pending.values_list("knowledge_base", flat=True))
        if found:
            pending.update(is_accepted=True)
        return found

    # Queries

    def accepted(self) -> Self:
        return self.filter(is_accepted=True)

    def owners(self) -> Self:
        return self.filter(role=MemberRole.OWNER)

    def heirs(self) -> Self:
        """Owners who have agreed that the base may count for them."""
        return self.owners().filter(is_ownership_accepted=True)

    def invited_by(self, owner: User, user: User) -> Self:
        """The user's pending memberships of bases that `owner` is an owner of."""
        owned = KnowledgeBaseMember.objects.owners().filter(user=owner).values("knowledge_base")
        return self.filter(user=user, is_accepted=False, knowledge_base__in=owned)

    def roles_of(self, user: User | int, bases: Iterable[UUID]) -> Mapping[UUID, MemberRole]:
        """The user's role in each of these bases that exists and that the user is a member of, as it is now."""
        found = self.filter(user=user, knowledge_base__in=list(bases))
        return {base: MemberRole(role) for base, role in found.values_list("knowledge_base_id", "role")}


class KnowledgeBaseMember(models.Model):
    """is_accepted: by the user; False: an invitation, which allows what its role does, but tells and costs the user nothing.

    is_ownership_accepted: of an owner, that the base may count for this user (docs/decisions/0115).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(
        KnowledgeBase, on_delete=models.CASCADE, related_name="members", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="knowledge_base_members"
    )
    role = models.CharField(max_length=10, choices=MemberRole.choices, default=MemberRole.RESTRICTED)
    is_accepted = models.BooleanField(default=True, db_default=True)
    is_ownership_accepted = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = KnowledgeBaseMemberQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "id")
        verbose_name = "member of a knowledge base"
        verbose_name_plural = "members of knowledge bases"
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "user"], name="one_membership_per_user"),
            models.CheckConstraint(condition=Q(role__in=MemberRole.values), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.knowledge_base_id}"

    # Mutators

    def change_role(self, role: MemberRole) -> None:
        """In the row and here. Whoever is made an owner by another has not accepted that yet."""
        self.role, self.is_ownership_accepted = role, False
        self.save(update_fields=["role", "is_ownership_accepted"])


class MembershipChange(models.Model):
    """Kept when the base or a user is deleted: names are copies. before, after: a role; empty: no member."""

    knowledge_base = models.UUIDField(db_index=True)
    name = models.CharField(max_length=200)
    actor = models.CharField(max_length=150, help_text="The user who made the change.")
    user = models.CharField(max_length=150, help_text="The user whose role was changed.")
    before = models.CharField(max_length=10, choices=MemberRole.choices, blank=True, default="")
    after = models.CharField(max_length=10, choices=MemberRole.choices, blank=True, default="")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-at", "-id")
        verbose_name = "change of a membership"
        verbose_name_plural = "changes of memberships"

    def __str__(self) -> str:
        return f"{self.user} in {self.name}: {self.before or '-'} → {self.after or '-'}"
