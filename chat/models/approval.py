"""Approval: the decision of a user that a tool call waits for. ToolPolicy: which calls of a tool need one."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from chat.models.mcp_server import McpServer
from chat.models.mcp_sign_in import McpCredential
from chat.models.session import Session
from chat.models.tool_call import ToolCall
from chat.protocol.server_tool_names import is_server_tool, server_of
from chat.protocol.states import Status
from chat.transcript.questions import (
    MAX_ADDRESS_CHARACTERS,
    AddressQuestion,
    AnyQuestion,
    Question,
    SignInQuestion,
    present_asked,
)
from chat.transcript.tools import (
    DEFAULT_RULE,
    MAX_SUMMARY_CHARACTERS,
    STRICTER,
    ApprovalRule,
    AskedTool,
    ToolIdentity,
)

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User


MAX_NOTE_CHARACTERS = 2_000
# A call waits for its user over a weekend; what it would do may no longer be wanted after that.
PATIENCE = timedelta(hours=72)


class Kind(models.TextChoices):
    APPROVAL = "approval"  # may the call run?
    QUESTION = "question"  # the call asks something
    ADDRESS = "address"  # the user has to go to an address
    SIGN_IN = "sign_in", "Sign in"  # its server demands that the user signs in


class Decision(models.TextChoices):
    APPROVED = "approved"
    REFUSED = "refused"
    ANSWERED = "answered"
    DECLINED = "declined"  # the user does not answer, or does not sign in
    SIGNED_IN = "signed_in", "Signed in"
    EXPIRED = "expired"  # nobody decided in time
    STOPPED = "stopped"  # the answer was stopped before anybody decided


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def undecided(self) -> Self:
        return self.filter(decision="")

    def signed_in(self) -> Self:
        """Select undecided sign-ins for which there is a credential by now that the server has not refused."""
        held = McpCredential.objects.usable().filter(
            Q(user=OuterRef("owner")) | Q(user=None), server=OuterRef("server")
        )
        another = Q(Exists(held), credential=None) | Q(Exists(held.exclude(pk=OuterRef("credential"))))
        return self.undecided().filter(another, kind=Kind.SIGN_IN, session__deleted_at=None)

    def open_for(self, user: User) -> Self:
        """Select what waits for this user, oldest first: calls of runs that have not ended or been told to stop."""
        ended = (Status.STOPPING, Status.COMPLETED, Status.FAILED, Status.STOPPED)
        mine = self.undecided().filter(owner=user, session__deleted_at=None)
        return mine.exclude(tool_call__run__status__in=ended).order_by("requested_at", "pk")

    def overdue(self) -> Self:
        """Select what nobody decided about in time. In the trash it stays as it is, until its session is restored."""
        return self.undecided().filter(expires_at__lt=Now(), session__deleted_at=None)

    def asked_before_edits(self, calls: Collection[UUID]) -> dict[UUID, dict[str, Any]]:
        """Return, by call, the arguments that the model asked for where the user edited them."""
        if not calls:
            return {}
        edited = self.filter(tool_call__in=calls, edited_arguments__isnull=False).order_by("-requested_at")
        return dict(edited.values_list("tool_call_id", "arguments"))

    def remembered(self, session: UUID) -> Mapping[str, Sequence[ToolIdentity]]:
        """Return by name the tools whose calls the user has approved for the whole session, the latest last."""
        by_name: dict[str, list[ToolIdentity]] = defaultdict(list)
        found = self.filter(session=session, is_remembered=True, decision=Decision.APPROVED)
        for name, identity in found.order_by("decided_at").values_list("name", "tool_identity"):
            by_name[name].append(ToolIdentity(*identity))
        return by_name


class Approval(models.Model):
    """The approval, answer or sign-in that a tool call waits for.

    arguments: as the model asked for them.  edited_arguments: as the user edited them; null: not edited.
    parameters: the tool's JSON Schema when the model made the call, which edited arguments have to match.
    tool_identity: the ToolIdentity of the tool that the decision is about, as a list; empty: of a built-in tool.
    changed: what is different from the tool of this name that the user has allowed (ToolChange); empty: nothing.
    summary: the first sentence of the tool's description then.
    message, form: those of a question (chat/transcript/questions.py). The form is text, since JSON columns forget the order
    of properties.  answer: the values of the form by name; null: no answer.
    url: the address that the user has to go to.
    server: the server that the user has to sign in to; null: none, or it was deleted. Its name is the message.
    credential: the id of the credential that the server has refused; null: the user had none.
    owner: the owner of the session, who alone decides.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # The call waits for the latest of its approvals.
    tool_call = models.ForeignKey(
        ToolCall,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="approvals",
        related_query_name="approval",
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="approvals")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(
        max_length=8, choices=Kind.choices, default=Kind.APPROVAL, db_default=Kind.APPROVAL.value
    )
    name = models.CharField(max_length=64)
    arguments = models.JSONField(default=dict)
    parameters = models.JSONField(default=dict)
    tool_identity = models.JSONField(default=list, db_default=[])
    changed = models.CharField(max_length=10, blank=True, default="", db_default="")
    summary = models.CharField(
        max_length=MAX_SUMMARY_CHARACTERS, blank=True, default="", db_default="", editable=False
    )
    message = models.TextField(blank=True, default="", db_default="")
    form = models.TextField(blank=True, default="", db_default="")
    url = models.CharField(max_length=MAX_ADDRESS_CHARACTERS, blank=True, default="", db_default="")
    server = models.ForeignKey(
        McpServer, null=True, blank=True, on_delete=models.SET_NULL, db_index=False, related_name="+"
    )
    credential = models.UUIDField(null=True, blank=True)
    requested_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    decision = models.CharField(max_length=9, blank=True, default="", choices=Decision.choices)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    note = models.CharField(max_length=MAX_NOTE_CHARACTERS, blank=True, default="")
    edited_arguments = models.JSONField(null=True, blank=True)
    answer = models.JSONField(null=True, blank=True)
    is_remembered = models.BooleanField(default=False)

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        ordering = ("-requested_at",)
        indexes = [
            models.Index("owner", "requested_at", condition=Q(decision=""), name="approval_open_by_owner"),
            models.Index("expires_at", condition=Q(decision=""), name="approval_open_by_expiry"),
            models.Index("session", condition=Q(is_remembered=True), name="approval_remembered"),
            models.Index(fields=["tool_call", "requested_at"], name="approval_by_call"),
            models.Index("server", condition=Q(server__isnull=False), name="approval_by_server"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=["", *Decision.values]), name="approval_decision_known"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[Kind.APPROVAL, Kind.ADDRESS, Kind.SIGN_IN], form="")
                | (Q(kind=Kind.QUESTION) & ~Q(form="")),
                name="approval_question_has_form",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.decision or 'open'}"

    @classmethod
    def for_call(
        cls,
        call: ToolCall,
        session: Session,
        tool: AskedTool,
        question: AnyQuestion | None = None,
    ) -> Self:
        """Build the unsaved approval of a call that waits. question: what the call asks; None: whether it may run."""
        expires_at: Any = Now() + PATIENCE
        return cls(
            tool_call=call,
            session=session,
            owner_id=session.owner_id,
            name=call.name,
            arguments=call.arguments,
            parameters=tool.parameters,
            tool_identity=list(filter(None, tool.identity)),
            changed=tool.changed,
            summary=tool.summary,
            expires_at=expires_at,
            **_question_columns(question),
        )

    def store_decision(self) -> None:
        """Save the decision that the caller has set, at the time of the database. The caller holds the run's lock."""
        moment: Any = Now()
        self.decided_at = moment
        self.save(
            update_fields=[
                "decision",
                "decided_at",
                "decided_by",
                "note",
                "edited_arguments",
                "answer",
                "is_remembered",
            ]
        )

    @property
    def question(self) -> AnyQuestion | None:
        match self.kind:
            case Kind.QUESTION:
                return Question(self.message, json.loads(self.form))
            case Kind.ADDRESS:
                return AddressQuestion(self.message, self.url)
            case Kind.SIGN_IN:
                return SignInQuestion(_text(self.server_id), self.message, _text(self.credential))
        return None

    def present_asked(self) -> dict[str, Any]:
        return present_asked(self.question, self.changed, self.summary)

    @property
    def identity(self) -> ToolIdentity:
        return ToolIdentity(*self.tool_identity)

    @property
    def final_arguments(self) -> dict[str, Any]:
        final: dict[str, Any] = self.arguments if self.edited_arguments is None else self.edited_arguments
        return final


def _question_columns(question: AnyQuestion | None) -> dict[str, Any]:
    """Return the columns that store the question of a call."""
    match question:
        case Question(message, form):
            return {"kind": Kind.QUESTION, "message": message, "form": json.dumps(form, ensure_ascii=False)}
        case AddressQuestion(message, url):
            return {"kind": Kind.ADDRESS, "message": message, "url": url}
        case SignInQuestion(server, name, credential):
            return {
                "kind": Kind.SIGN_IN,
                "message": name,
                "server_id": server or None,
                "credential": credential or None,
            }
    return {}


def _text(pk: UUID | None) -> str:
    return str(pk) if pk else ""


class ToolPolicyQuerySet(models.QuerySet["ToolPolicy"]):
    def by_name(self, names: Iterable[str]) -> Mapping[str, ToolPolicy]:
        return {policy.name: policy for policy in self.filter(name__in=list(names))}


class ToolPolicy(models.Model):
    """bound_to: the id of the server that had the name when the rule was saved, and the digest of how it was reached;
    empty: of a built-in tool, or there was none.
    """

    name = models.CharField(max_length=64, unique=True, help_text="The name that models call the tool by.")
    approval = models.CharField(
        max_length=20,
        choices=[(rule.value, rule.value.replace("_", " ")) for rule in ApprovalRule],
        default=DEFAULT_RULE.value,
        help_text="Whether the user is asked before the tool is called.",
    )
    bound_to = models.JSONField(default=list, db_default=[], editable=False)

    objects = ToolPolicyQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "tool policies"
        constraints = [
            models.CheckConstraint(
                condition=Q(approval__in=[rule.value for rule in ApprovalRule]),
                name="tool_policy_approval_known",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the rule for the server that has the name now."""
        self.bound_to = self._current_server()
        super().save(*args, **kwargs)

    @property
    def is_current(self) -> bool:
        """Whether the server that has the name is the one that the rule was saved for. Reads the database."""
        return bool(self.bound_to == self._current_server())

    def rule_for(self, server: Iterable[str], rule: ApprovalRule) -> ApprovalRule:
        """Return the rule for this tool of a server whose own rule is `rule`. server: as in `bound_to`.
        For another server than the one that it was saved for, the stricter of both: staff have not spoken of that.
        """
        own = ApprovalRule(self.approval)
        return own if self.bound_to == list(filter(None, server)) else max(own, rule, key=STRICTER.index)

    def _current_server(self) -> list[str]:
        if not is_server_tool(self.name):
            return []
        server = McpServer.objects.without_documents().filter(name=server_of(self.name)).first()
        return [str(server.pk), server.address_digest] if server else []
