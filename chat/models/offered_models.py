"""Which models users may choose, and which of them is the default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q

from chat.models.sql.model_configs import OFFERED_NAMED
from chat.models.sql.statements import instance

# ModelConfig, which imports this module.
M = TypeVar("M", bound=Any)


class OfferedModels(models.QuerySet[M]):
    def usable(self) -> Self:
        """Select models that are enabled, and whose provider is, if they have one. IS_OFFERED is the same in SQL."""
        return self.filter(Q(provider=None) | Q(provider__is_enabled=True), enabled=True)

    def offered(self) -> Self:
        """Select the models that users may choose, the default first."""
        return self.usable().order_by("-is_default", "name")

    def offered_named(self, names: Iterable[str]) -> list[M]:
        """Return the offered models with these names, in any order."""
        return [instance(self.model, row) for row in OFFERED_NAMED.all(names=list(names))]

    def configure(self, windows: dict[str, int], *, demo: bool) -> None:
        """Create the models named by the environment that do not exist. windows: name -> tokens, the default first.

        demo: they are the built-in demo, which is offered only while no enabled model has an address.
        """
        with transaction.atomic():
            # Models of deleted providers: the address and the key are those of the environment again.
            left = self.filter(name__in=windows, provider__deleted_at__isnull=False)
            left.update(provider=None, upstream_name="", enabled=True)
            for name, window in windows.items():
                self.get_or_create(
                    name=name, defaults=self.model.fields_for(name, window) | {"is_demo": demo}
                )
            demo_offered = self._offer_demo(windows if demo else ())
            usable = self.usable().filter(is_demo=True) if demo_offered else self.usable()
            if windows and not usable.filter(is_default=True).exists():
                first = usable.filter(name=next(iter(windows))).first() or usable.first()
                if first:
                    first.make_default()

    def ensure_default(self) -> None:
        """Make a usable model the default if none is. The demo, if it runs (LLM_MODELS names it), gives way to any other."""
        self._offer_demo(settings.LLM_MODELS)
        usable = self.usable().order_by("is_demo", "name")
        has_default, first = usable.filter(is_default=True), usable.first()
        if first and not has_default.filter(is_demo=first.is_demo).exists():
            first.make_default()

    def _offer_demo(self, names: Iterable[str]) -> bool:
        """Offer the demo's models of these names while no enabled model has an address. Return whether they are."""
        addressed = self.usable().filter(~Q(base_url="") | ~Q(provider=None), is_demo=False)
        offered = [] if addressed.exists() else list(names)
        demo = self.filter(is_demo=True)
        demo.exclude(name__in=offered).filter(enabled=True).update(enabled=False)
        demo.filter(name__in=offered, enabled=False).update(enabled=True)
        return bool(offered)
