"""ChatMessage: a node of the session's tree (root, user, assistant or summary)."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django_cte import CTE, with_cte

from chat.models.role import Role
from chat.models.session import Session
from chat.models.sql.messages import HIGHEST_DOCUMENT_NUMBER, READ_PLACE
from chat.models.sql.statements import instance
from knowledge.models import File

if TYPE_CHECKING:
    from django.contrib.auth.models import User

REPLIES = (Role.USER, Role.ASSISTANT)


class MessageQuerySet(models.QuerySet["ChatMessage"]):
    # Factories

    def append(self, parent: ChatMessage, **fields: Any) -> ChatMessage:
        """Store a new child of `parent`. Does not make it current: see ChatMessage.choose."""
        return self.create(session_id=parent.session_id, parent=parent, parent_role=parent.role, **fields)

    def draft(
        self, parent: ChatMessage, *, role: Role, later: timedelta = timedelta(0), **fields: Any
    ) -> ChatMessage:
        """Build a child of `parent` without storing it. later: how much later than now it is sent."""
        return self.model(
            session_id=parent.session_id,
            parent=parent,
            parent_role=parent.role,
            role=role,
            sent_at=timezone.now() + later,
            **fields,
        )

    # Queries

    def visible_to(self, user: User) -> Self:
        return self.filter(session__owner=user, session__deleted_at=None)

    def place(self, pk: UUID | str) -> ChatMessage:
        """Read only the place of a message in the tree; its text is loaded when it is used. Raises DoesNotExist."""
        row = READ_PLACE.first(message=pk)
        if row is None:
            raise self.model.DoesNotExist
        return instance(self.model, row)

    def tip_of(self, session: Session) -> ChatMessage:
        """Return the message that the session's current branch ends at, as place() returns it."""
        return self.place(session.leaf_id) if session.leaf_id else self.root_of(session)

    def root_of(self, session: Session) -> ChatMessage:
        return self.get(session=session, role=Role.ROOT)

    def branch_to(self, leaf: ChatMessage | UUID | str, *, at_most: int | None = None) -> Self:
        """Select the branch from root to leaf, oldest first, by one recursive CTE: O(branch), never the whole tree.

        leaf: a ChatMessage or its id. at_most: only the messages nearest to the leaf; the others are not visited.
        Each row carries `depth`, 0 at the leaf and rising towards the root.
        """
        start = leaf.pk if isinstance(leaf, ChatMessage) else leaf

        def upwards(cte: Any) -> Any:
            here = ChatMessage.objects.filter(pk=start).values(
                "id", "parent_id", depth=models.Value(0, output_field=models.IntegerField())
            )
            depth = models.ExpressionWrapper(cte.col.depth + 1, output_field=models.IntegerField())
            above = cte.join(ChatMessage, id=cte.col.parent_id).values("id", "parent_id", depth=depth)
            if at_most is not None:
                above = above.filter(depth__lt=at_most)
            return here.union(above, all=True)

        cte = CTE.recursive(upwards)
        rows: Any = with_cte(cte, select=cte.join(self.model, id=cte.col.id))
        branch: Self = rows.annotate(depth=cte.col.depth).order_by("-depth")
        return branch

    def current_path_from(self, start: ChatMessage | UUID | str) -> Self:
        """Select `start` and its successors along latest_child, oldest first. Each row carries `depth`, 0 at start."""
        first = start.pk if isinstance(start, ChatMessage) else start

        def downwards(cte: Any) -> Any:
            here = ChatMessage.objects.filter(pk=first).values(
                "id", "latest_child_id", depth=models.Value(0, output_field=models.IntegerField())
            )
            below = cte.join(ChatMessage, id=cte.col.latest_child_id).values(
                "id",
                "latest_child_id",
                depth=cte.col.depth + models.Value(1, output_field=models.IntegerField()),
            )
            return here.union(below, all=True)

        cte = CTE.recursive(downwards)
        rows: Any = with_cte(cte, select=cte.join(self.model, id=cte.col.id))
        path: Self = rows.annotate(depth=cte.col.depth).order_by("depth")
        return path

    def subtree_of(self, start: ChatMessage) -> Self:
        """Select `start` and all messages below it, summaries included."""

        def downwards(cte: Any) -> Any:
            here = ChatMessage.objects.filter(pk=start.pk).values("id")
            return here.union(cte.join(ChatMessage, parent_id=cte.col.id).values("id"), all=True)

        cte = CTE.recursive(downwards)
        rows: Any = with_cte(cte, select=cte.join(self.model, id=cte.col.id))
        return rows  # type: ignore[no-any-return]

    def replies(self) -> Self:
        """Select user and assistant messages; no root, no summaries."""
        return self.filter(role__in=REPLIES)


class ChatMessage(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    # The parent's role, kept consistent by a composite foreign key, so that the database rejects two user
    # messages in a row.
    parent_role = models.CharField(max_length=9, choices=Role.choices, null=True, blank=True)  # noqa: DJ001
    role = models.CharField(max_length=9, choices=Role.choices)
    text = models.TextField(blank=True, default="")
    reasoning = models.TextField(blank=True, default="")
    # In the default encoding (chat/transcript/tokens.py), model-agnostic.
    token_count = models.IntegerField(default=0)
    latest_child = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # parent, except for summaries: the target of the foreign key that keeps latest_child a true reply.
    reply_to = models.GeneratedField(
        expression=models.Case(
            models.When(role__in=REPLIES, then=F("parent_id")), default=None, output_field=models.UUIDField()
        ),
        output_field=models.UUIDField(null=True),
        db_persist=True,
    )
    last_summarized_message = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    client_message_id = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001  null: none given
    # SHA-256 of the request that carried client_message_id, to distinguish a repeat from another request.
    request_digest = models.CharField(max_length=64, blank=True, default="")
    sent_at = models.DateTimeField(auto_now_add=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ("sent_at", "id")
        indexes = [
            models.Index(fields=["parent", "sent_at", "id"], name="message_by_parent"),
            models.Index(fields=["sent_at"], name="message_by_age"),
            # Read for every run; most sessions have none.
            models.Index(fields=["session"], name="summary_by_session", condition=Q(role="summary")),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["session"], condition=Q(role="root"), name="one_root_per_session"
            ),
            models.UniqueConstraint(
                fields=["session", "client_message_id"], name="one_message_per_client_id"
            ),
            models.UniqueConstraint(fields=["session", "id"], name="message_session_id"),
            models.UniqueConstraint(fields=["id", "role"], name="message_id_role"),
            models.UniqueConstraint(fields=["id", "reply_to"], name="message_id_reply_to"),
            models.UniqueConstraint(
                fields=["parent", "last_summarized_message"], name="one_summary_per_parent_and_cutoff"
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="message_role_known"),
            models.CheckConstraint(
                condition=Q(role="root", parent__isnull=True, parent_role__isnull=True)
                | Q(role="user", parent_role__isnull=False, parent_role__in=["root", "assistant"])
                | Q(role="assistant", parent_role__isnull=False, parent_role="user")
                | Q(role="summary", parent_role__isnull=False, parent_role="user"),
                name="message_roles_alternate",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True, parent_role__isnull=True)
                | Q(parent__isnull=False, parent_role__isnull=False),
                name="message_parent_has_role",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")), name="message_is_not_its_own_parent"
            ),
            models.CheckConstraint(
                condition=~Q(role="root") | Q(text="", reasoning=""), name="root_is_empty"
            ),
            models.CheckConstraint(
                condition=Q(last_summarized_message__isnull=True) | Q(role="summary"),
                name="only_summaries_have_a_cutoff",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.pk}"

    # Mutators

    def choose(self) -> None:
        """Make this message the one its parent shows. The caller holds the session's lock."""
        if self.parent_id is None:
            raise ValueError("the root has no parent to choose it")
        type(self).objects.filter(pk=self.parent_id).update(latest_child=self)

    def end_branch(self) -> None:
        """Show none of its children: a branch that comes here ends here. The caller holds the session's lock."""
        type(self).objects.filter(pk=self.pk).update(latest_child=None)

    # Queries

    def siblings(self) -> MessageQuerySet:
        """Select the messages of the same role under the same parent, itself included, oldest first."""
        return type(self).objects.filter(parent_id=self.parent_id, role=self.role).order_by("sent_at", "id")


class Feedback(models.Model):
    message = models.OneToOneField(ChatMessage, on_delete=models.CASCADE, related_name="feedback")
    is_positive = models.BooleanField(null=True, blank=True)
    text = models.TextField(blank=True, default="")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            models.CheckConstraint(
                condition=Q(is_positive__isnull=False) | ~Q(text=""), name="feedback_says_something"
            )
        ]

    def __str__(self) -> str:
        return f"feedback on {self.message_id}"


class MessageFileQuerySet(models.QuerySet["MessageFile"]):
    def chosen(self) -> Self:
        """Select what the user has chosen, without pictures of pages; joins the files, but without their texts."""
        return self.filter(file__page_of__isnull=True).select_related("file").defer("file__text")

    def highest_number(self, message: ChatMessage | UUID | str) -> int:
        """Return the highest number of a document on the branch to `message` (or its id); 0 if there is none."""
        pk = message.pk if isinstance(message, ChatMessage) else message
        [highest] = HIGHEST_DOCUMENT_NUMBER.all(leaf=pk)
        return highest.number


class MessageFile(models.Model):
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="attachments")
    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="messages")
    position = models.SmallIntegerField()
    # Identifies the document in the prompt, fixed when the message is sent; null: an image.
    number = models.IntegerField(null=True, blank=True)

    objects = MessageFileQuerySet.as_manager()

    class Meta:
        ordering = ("message", "position")
        constraints = [
            models.UniqueConstraint(fields=["message", "position"], name="one_file_per_position"),
            models.UniqueConstraint(fields=["message", "file"], name="one_place_per_file_of_a_message"),
            models.UniqueConstraint(fields=["message", "number"], name="one_file_per_number"),
            models.CheckConstraint(
                condition=Q(number__isnull=True) | Q(number__gte=1), name="file_number_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} with {self.message_id}"
