"""ToolPolicy: when calls of one tool need the approval of the user whose answer makes them."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models
from django.db.models import Q

from chat.models.mcp_server import McpServer
from chat.protocol.server_tool_names import is_server_tool, server_of
from chat.transcript.tools import DEFAULT_RULE, STRICTER, ApprovalRule


class ToolPolicyQuerySet(models.QuerySet["ToolPolicy"]):
    def by_name(self, names: Iterable[str]) -> Mapping[str, "ToolPolicy"]:
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
