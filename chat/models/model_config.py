"""ModelConfig: a model that may answer, its server, limits, abilities and prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from django.core.validators import RegexValidator
from django.db import models, transaction
from django.db.models import F, Q

from chat.models.sql.model_configs import OFFERED_NAMED
from chat.models.sql.statements import instance


class ModelConfigQuerySet(models.QuerySet["ModelConfig"]):
    def offered(self) -> Self:
        """The models that users may choose, the default first."""
        return self.filter(enabled=True).order_by("-is_default", "name")

    def offered_named(self, names: Iterable[str]) -> list[ModelConfig]:
        """Those of offered() with these names, in any order."""
        return [instance(self.model, row) for row in OFFERED_NAMED.all(names=list(names))]

    def configure(self, windows: dict[str, int], *, demo: bool) -> None:
        """Create the models named by the environment that do not exist. windows: name -> tokens, the default first.

        demo: they are the built-in demo, which is offered only while no enabled model has an address.
        """
        with transaction.atomic():
            for name, window in windows.items():
                self.get_or_create(
                    name=name, defaults=ModelConfig.fields_for(name, window) | {"is_demo": demo}
                )
            addressed = self.filter(is_demo=False, enabled=True).exclude(base_url="")
            demo_offered = demo and not addressed.exists()
            self.filter(is_demo=True).update(enabled=demo_offered)
            usable = self.filter(enabled=True)
            if demo_offered:
                usable = usable.filter(is_demo=True)
            if windows and not usable.filter(is_default=True).exists():
                first = usable.filter(name=next(iter(windows))).first() or usable.first()
                if first:
                    first.make_default()


def _price(help_text: str) -> Any:
    return models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True, help_text=help_text)


def _unknown_or_positive(price: str) -> Q:
    return Q(**{f"{price}__isnull": True}) | Q(**{f"{price}__gte": 0})


class ModelConfig(models.Model):
    name = models.CharField(max_length=200, unique=True, help_text="As the upstream server calls it.")
    # Not a URLField: its validator refuses the one-word host names of container networks.
    base_url = models.CharField(
        max_length=500,
        blank=True,
        default="",
        validators=[RegexValidator(r"^https?://", "An address starts with http:// or https://.")],
        help_text="OpenAI-compatible address ending in /v1; empty: LLM_BASE_URL.",
    )
    api_key_env = models.CharField(
        max_length=100,
        default="LLM_API_KEY",
        help_text="Name of the environment variable that holds the key.",
    )
    context_window = models.PositiveIntegerField(default=128_000, help_text="Tokens.")
    max_output_tokens = models.PositiveIntegerField(default=4_096)
    supports_vision = models.BooleanField(default=False)
    supports_tools = models.BooleanField(default=True)
    supports_prefill = models.BooleanField(default=False)
    supports_tool_choice_none = models.BooleanField(default=True)
    supports_prompt_cache_key = models.BooleanField(default=False)
    queue = models.CharField(max_length=50, default="llm", help_text="The Celery queue of its worker pool.")
    tokenizer = models.CharField(
        max_length=50, blank=True, default="", help_text="tiktoken encoding; empty: the default encoding."
    )
    prompt_price = _price("Per million prompt tokens; empty: unknown, and so is what a run costs.")
    cached_price = _price(
        "Per million prompt tokens the server had cached; empty: as any other prompt token."
    )
    completion_price = _price("Per million completion tokens, reasoning included.")
    is_default = models.BooleanField(default=False)
    is_demo = models.BooleanField(
        default=False, help_text="The built-in demo, shown when no model is configured."
    )
    enabled = models.BooleanField(default=True)

    objects = ModelConfigQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=Q(is_default=True), name="one_default_model"
            ),
            models.CheckConstraint(
                condition=Q(max_output_tokens__gt=0, context_window__gt=F("max_output_tokens")),
                name="model_output_fits_its_window",
            ),
            models.CheckConstraint(
                condition=_unknown_or_positive("prompt_price")
                & _unknown_or_positive("cached_price")
                & _unknown_or_positive("completion_price"),
                name="model_prices_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def make_default(self) -> None:
        type(self).objects.filter(is_default=True).exclude(pk=self.pk).update(is_default=False)
        type(self).objects.filter(pk=self.pk).update(is_default=True)
        self.is_default = True

    @staticmethod
    def fields_for(name: str, context_window: int) -> dict[str, Any]:
        """The initial fields of a model named by LLM_MODELS."""
        return {
            "name": name,
            "context_window": context_window,
            "max_output_tokens": min(4096, context_window // 4),
        }
