"""KnowledgeBase: documents that several people search. KnowledgeBaseMember: a member with a role. MembershipChange: the
log of changes of members."""

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

from knowledge.models.owned_row import ReferencedRow, cascade_without_another_owner

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_TOPICS: Final = 30
MAX_TOPIC_CHARACTERS: Final = 100
MAX_HINT_CHARACTERS: Final = 200
MAX_KEYWORDS: Final = 5
MAX_KEYWORD_CHARACTERS: Final = 48
# The only fields of a base that restricted members see, beside its owner.
OUTLINE: Final = frozenset({"name", "routing_hint", "routing_keywords"})
# The permission of staff to read the contents of bases: summaries, topics, documents and search results.
CONTENTS_PERMISSION: Final = "knowledge.view_knowledge_base_contents"


class MemberRole(models.TextChoices):
    OWNER = "owner"  # manages members, and deletes the base
    EDITOR = "editor"  # adds, replaces and deletes documents
    READER = "reader"
    # Reads no titles or texts, only the output of a secondary model about them (docs/decisions/0115).
    RESTRICTED = "restricted"


# The roles that may read documents.
READING: Final = frozenset({MemberRole.OWNER, MemberRole.EDITOR, MemberRole.READER})
EDITING: Final = frozenset({MemberRole.OWNER, MemberRole.EDITOR})


class KnowledgeBaseQuerySet(models.QuerySet["KnowledgeBase"]):
    # Mutators

    def start(self, owner: User, **fields: Any) -> KnowledgeBase:
        """Create a base, with its creator as the first member."""
        with transaction.atomic():
            base = self.create(owner=owner, **fields)
            member = base.members.create(user=owner, role=MemberRole.OWNER)
        base.role, base.member = MemberRole.OWNER, member.pk
        base.is_accepted = base.is_ownership_accepted = True
        return base

    # Queries

    def visible_to(self, user: User | int) -> Self:
        """Filter the bases that the user is a member of, in any role."""
        return self.filter(pk__in=KnowledgeBaseMember.objects.filter(user=user).values("knowledge_base"))

    def readable_by(self, user: User | int) -> Self:
        """Filter the bases whose documents the user may read."""
        reading = KnowledgeBaseMember.objects.filter(user=user, role__in=sorted(READING))
        return self.filter(pk__in=reading.values("knowledge_base"))

    def searchable_by(self, user: User | int, bases: Iterable[UUID]) -> Self:
        """Filter the bases among `bases` whose documents the user may read.
        Empty if the user is a member of one of `bases` without that right.
        """
        bound = KnowledgeBaseMember.objects.filter(user=user, knowledge_base__in=list(bases))
        barred = bound.exclude(role__in=sorted(READING))
        return self.readable_by(user).filter(~Exists(barred), pk__in=list(bases))

    def with_role_of(self, user: User) -> Self:
        """Filter the user's bases, with the user's `role`, the id of the `member`, and the acceptances as attributes.

        The latest `changed_at` comes first. It counts only changes that the role may see, because an order reveals
        changes as a time does.
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
        """Filter the bases without members, which nobody can reach any more (chat/sweeper/base_deletion.py)."""
        return self.filter(members__isnull=True)

    def after(self, base: KnowledgeBase) -> Self:
        """Filter the bases after `base` in the order of `with_role_of`."""
        older = Q(changed_at__lt=base.changed_at)
        return self.filter(older | Q(changed_at=base.changed_at, pk__lt=base.pk))


class KnowledgeBase(ReferencedRow):
    """A knowledge base. owner: the owner among its members whose quotas it uses; a member's role sets the permissions.

    routing_hint, routing_keywords: the only description, beside the name, that restricted members and their models see.
    updated_at: last change of anything, including documents and members.
    outline_updated_at: last change of the fields that restricted members see.
    """

    # Attributes for the requesting user, from with_role_of.
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
        """Set fields that members may edit, in the row and this object. False: the row was deleted; nothing changed."""
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
        """Transfer the base and its documents to another owner, who has agreed."""
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
        """Accept the user's pending memberships of these bases; return the bases that were pending."""
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
        """Filter the owners who have agreed that the base may count for them."""
        return self.owners().filter(is_ownership_accepted=True)

    def invited_by(self, owner: User, user: User) -> Self:
        """Filter the user's pending memberships of bases that `owner` is an owner of."""
        owned = KnowledgeBaseMember.objects.owners().filter(user=owner).values("knowledge_base")
        return self.filter(user=user, is_accepted=False, knowledge_base__in=owned)

    def roles_of(self, user: User | int, bases: Iterable[UUID]) -> Mapping[UUID, MemberRole]:
        """Return the user's present role in each of these bases; without bases that the user is not a member of."""
        found = self.filter(user=user, knowledge_base__in=list(bases))
        return {base: MemberRole(role) for base, role in found.values_list("knowledge_base_id", "role")}


class KnowledgeBaseMember(models.Model):
    """A membership of a user in a base.

    is_accepted: False for an invitation, which has the rights of its role, but sends and costs the user nothing.
    is_ownership_accepted: whether an owner has agreed that the base may count for them (docs/decisions/0115).
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
        """Set the role in the row and in this object. A new owner has not accepted the ownership yet."""
        self.role, self.is_ownership_accepted = role, False
        self.save(update_fields=["role", "is_ownership_accepted"])


class MembershipChange(models.Model):
    """A change of a member or role. It stays when the base or a user is deleted: names are copies.

    before, after: a role; empty: not a member.
    """

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
