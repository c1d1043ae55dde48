"""Properties of a model's server: what it refuses or omits, learned or set by staff, and how much it takes at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Self

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from chat.transcript.dialect import MAX_TOOLS, REFUSED_TOOL, TRAITS, max_tools, refused_tools

MAX_ADDRESS_CHARACTERS: Final = 500
# Tools that change are refused again with every change; the latest are kept.
MAX_REFUSED_TOOLS: Final = 100


class DialectFields(models.Model):
    dialect = ArrayField(
        models.CharField(max_length=40, choices=[(name, name) for name in TRAITS]),
        default=list,
        db_default=[],
        blank=True,
        help_text="What its server refuses or omits. Learned from its refusals; forgotten when its address or name changes.",
    )
    refused_tools = ArrayField(
        models.CharField(max_length=100),
        default=list,
        db_default=[],
        blank=True,
        help_text="Tools that its server refused, with a digest of their schemas: not sent until they change, or are removed here.",
    )
    max_tools = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many tools its server takes in one request; of more, those used most are sent. Learned from its refusals; empty: any number.",
    )
    # The model and server these were learned of (source_of); empty: set by staff.
    dialect_source = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)

    # The address that the server redirected the latest request to, and the model and server of that request.
    redirects_to = models.CharField(
        max_length=MAX_ADDRESS_CHARACTERS, blank=True, default="", db_default="", editable=False
    )
    redirect_source = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    max_requests = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many requests its server takes at once, those of other models included; empty: any number.",
    )

    class Meta:
        abstract = True

    def dialect_at(self, source: str) -> frozenset[str]:
        """Return the known traits of this model at this server."""
        if self.dialect_source not in ("", source):
            return frozenset()
        tools = (REFUSED_TOOL + tool for tool in self.refused_tools)
        limit = (f"{MAX_TOOLS}{self.max_tools}",) if self.max_tools else ()
        return frozenset((*self.dialect, *tools, *limit))

    @classmethod
    def learn(cls, pk: int, source: str, traits: Collection[str]) -> None:
        """Add traits that were learned of the server. Traits that were learned of another server are forgotten."""
        row = cls.all_rows().filter(pk=pk).first()
        if row is not None:
            known = {*row.dialect_at(source), *traits}
            is_set_by_staff = (
                bool(row.dialect or row.refused_tools or row.max_tools) and not row.dialect_source
            )
            refused = refused_tools(traits)
            refused = [*(tool for tool in refused_tools(known) if tool not in refused), *refused]
            cls.all_rows().filter(pk=pk).update(
                dialect=sorted(known.intersection(TRAITS)),
                refused_tools=refused[-MAX_REFUSED_TOOLS:],
                max_tools=max_tools(known),
                dialect_source="" if is_set_by_staff else source,
            )

    @classmethod
    def forget(cls, pk: int, source: str, trait: str) -> None:
        """Remove a trait that the server no longer has."""
        row = cls.all_rows().filter(pk=pk).first()
        if row is not None and trait in row.dialect_at(source):
            cls.all_rows().filter(pk=pk).update(dialect=sorted({*row.dialect} - {trait}))

    def redirect_at(self, source: str) -> str:
        """Return the address that this server redirects requests to; empty if it answers them itself."""
        return self.redirects_to if self.redirect_source == source else ""

    @classmethod
    def note_redirect(cls, pk: int, source: str, target: str) -> None:
        """Store the address that the server redirects requests to, or with an empty target that it answers them."""
        cls.all_rows().filter(pk=pk).update(redirects_to=target, redirect_source=source)

    @classmethod
    def all_rows(cls) -> models.QuerySet[Self]:
        return cls._default_manager.all()


def dialect_is_known(prefix: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        condition=Q(dialect__contained_by=list(TRAITS)), name=f"{prefix}_dialect_known"
    )
