"""ModelConfig: a model that may answer, its server, limits, abilities and prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.db.models import F, Q

from chat.models.model_dialect import DialectFields, dialect_is_known
from chat.models.model_server_rules import address_problem, key_problem, provider_address_problem
from chat.models.provider import Provider, server_address
from chat.models.sql.model_configs import OFFERED_NAMED
from chat.models.sql.statements import instance
from chat.transcript.answer_settings import OPTION_NAMES
from chat.transcript.dialect import source_of
from chat.transcript.tokens import (
    BOUNDS,
    START,
    Measured,
    TokenFactor,
    answer_reserve,
    installed_encodings,
    moved,
    picture_tokens,
    request_tokens,
)
from chat.transcript.usage import TokenUsage
from knowledge.models import File, FileKind

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


PRICE_UNIT_TOKENS = 1_000_000


class ModelConfigQuerySet(OfferedModels["ModelConfig"]):
    def forget_token_factor(self) -> int:
        """Start measuring anew; returns how many models had a measured factor."""
        measured = self.filter(token_samples__gt=0)
        return measured.update(token_factor=START.factor, token_samples=START.samples)


def check_tokenizer(name: str) -> None:
    """Raise ValidationError unless texts can be counted in the encoding of this name."""
    if name not in (known := installed_encodings()):
        raise ValidationError(f"Unknown encoding {name!r}. Installed: {', '.join(known)}.")


def _price(help_text: str) -> Any:
    return models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True, help_text=help_text)


def _unknown_or_positive(price: str) -> Q:
    return Q(**{f"{price}__isnull": True}) | Q(**{f"{price}__gte": 0})


class ModelConfig(DialectFields):
    name = models.CharField(
        max_length=200,
        unique=True,
        help_text="As people see it, and as the server calls it, unless another name for it is given.",
    )
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
    max_output_tokens = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The longest answer, sent as max_tokens; empty: not sent, the limit of the server holds.",
    )
    supports_vision = models.BooleanField(default=False)
    supports_tools = models.BooleanField(default=True)
    supports_prefill = models.BooleanField(default=False)
    supports_tool_choice_none = models.BooleanField(default=True)
    supports_prompt_cache_key = models.BooleanField(default=False)
    requires_alternating_roles = models.BooleanField(
        default=False,
        db_default=False,
        help_text='Joins consecutive user messages, for servers that answer "roles must alternate".',
    )
    unsupported_options = ArrayField(
        models.CharField(max_length=40, choices=[(name, name) for name in OPTION_NAMES]),
        default=list,
        db_default=[],
        blank=True,
        help_text="Options of a turn that its server refuses: they are not offered, and refused with their name.",
    )
    queue = models.CharField(max_length=50, default="llm", help_text="The Celery queue of its worker pool.")
    tokenizer = models.CharField(
        max_length=50,
        blank=True,
        default="",
        validators=[check_tokenizer],
        help_text="Encoding that counts exactly, cl100k_base or o200k_base; empty: estimated, by the token factor.",
    )
    token_factor = models.FloatField(
        default=START.factor,
        db_default=START.factor,
        help_text="Tokens that the server reports for one of our estimate, measured while no tokenizer is set.",
    )
    token_samples = models.PositiveIntegerField(
        default=START.samples,
        db_default=START.samples,
        help_text="Requests that the token factor was measured on.",
    )
    prompt_price = _price("Per million prompt tokens; empty: unknown, and so is what a run costs.")
    cached_price = _price(
        "Per million prompt tokens the server had cached; empty: as any other prompt token."
    )
    completion_price = _price("Per million completion tokens, reasoning included.")
    provider = models.ForeignKey(
        Provider,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="models",
        help_text="The provider that serves it, with its address and key; empty: the address and the variable of this row.",
    )
    upstream_name = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="As the server calls it; empty: by its name.",
    )
    is_default = models.BooleanField(default=False)
    is_demo = models.BooleanField(
        default=False, help_text="The built-in demo, shown when no model is configured."
    )
    enabled = models.BooleanField(default=True)

    objects = ModelConfigQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            dialect_is_known("model"),
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
            models.CheckConstraint(
                condition=Q(unsupported_options__contained_by=list(OPTION_NAMES)),
                name="model_unsupported_options_known",
            ),
            models.CheckConstraint(
                condition=Q(token_factor__range=BOUNDS), name="model_token_factor_is_bounded"
            ),
            models.CheckConstraint(
                condition=Q(provider=None) | Q(base_url="", is_demo=False), name="model_has_one_server"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name_at_server(self) -> str:
        return self.upstream_name or self.name

    @property
    def source(self) -> str:
        """The identifier of the model at its server."""
        return source_of(self.name_at_server, server_address(self.base_url, self.provider))

    @property
    def shown_address(self) -> str:
        """The address that requests are sent to, without a password or key in it; empty if none is set."""
        parts = urlsplit(server_address(self.base_url, self.provider))
        own = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
        return f"{own.geturl().removesuffix('/')}/chat/completions" if parts.netloc else ""

    @property
    def measured_factor(self) -> TokenFactor:
        return TokenFactor(self.token_factor, self.token_samples)

    @property
    def estimate_factor(self) -> float:
        """The server's tokens for one of our estimate; 1 if the model is counted by its own encoding."""
        return 1.0 if self.tokenizer in installed_encodings() else self.token_factor

    @property
    def counted_window(self) -> int:
        """The context window in tokens of our estimate."""
        return int(self.context_window / self.estimate_factor)

    @property
    def refused_options(self) -> list[str]:
        """Names of the options that its turns may not have."""
        without_tools = [] if self.supports_tools else ["parallel_tool_calls"]
        return sorted({*self.unsupported_options, *without_tools})

    @property
    def most_output_tokens(self) -> int:
        """The largest output limit that a turn may ask for."""
        return self.max_output_tokens or self.context_window - 1

    @property
    def answer_reserve(self) -> int:
        """The tokens of the window that requests leave free for the answer."""
        return answer_reserve(self.context_window, self.max_output_tokens)

    @property
    def request_tokens(self) -> int:
        """The most tokens of our estimate that a request without tools may have."""
        return max(0, request_tokens(self.context_window, self.answer_reserve, self.estimate_factor))

    def problems(self) -> dict[str, str]:
        """Return, by field, why requests are not sent with its value, and what to do; empty if they are sent."""
        if self.provider:
            found = {"provider": provider_address_problem(self.provider.base_url)}
        else:
            found = {"api_key_env": key_problem(self.api_key_env), "base_url": address_problem(self.base_url)}
        return {field: problem for field, problem in found.items() if problem}

    def clean(self) -> None:
        """Raise ValidationError for what problems() returns, for forms."""
        if problems := self.problems():
            raise ValidationError(problems)

    def change(self, **fields: Any) -> None:
        """Set these fields and store the row, which may be new. Raises IntegrityError."""
        for name, value in fields.items():
            setattr(self, name, value)
        self.save()

    def calibrate(self, measured: Measured) -> bool:
        """Move the token factor towards the server's report. False: another process has moved it since it was read."""
        factor, samples = moved(self.measured_factor, measured)
        unchanged = type(self).objects.filter(pk=self.pk, token_samples=self.token_samples)
        return bool(unchanged.update(token_factor=factor, token_samples=samples))

    def make_default(self) -> None:
        type(self).objects.filter(is_default=True).exclude(pk=self.pk).update(is_default=False)
        type(self).objects.filter(pk=self.pk).update(is_default=True)
        self.is_default = True

    def cost_of(self, usage: TokenUsage) -> Decimal | None:
        """Return the cost of so many tokens; None if a price or a count is unknown. sql.runs.END computes the same."""
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        if prompt is None or completion is None or self.prompt_price is None or self.completion_price is None:
            return None
        cached = min(prompt, usage.cached_tokens or 0)
        cached_price = self.prompt_price if self.cached_price is None else self.cached_price
        cost = (prompt - cached) * self.prompt_price + cached * cached_price
        return Decimal(cost + completion * self.completion_price) / PRICE_UNIT_TOKENS

    @staticmethod
    def fields_for(name: str, context_window: int) -> dict[str, Any]:
        """Return the initial fields of a model named by LLM_MODELS."""
        return {"name": name, "context_window": context_window}


def tokens_of_file(file: File) -> int:
    """Return a file's tokens in the default encoding; for a picture, those that models which see it are charged."""
    if file.kind != FileKind.IMAGE:
        return file.token_count
    return picture_tokens(file.width_px, file.height_px) if file.width_px and file.height_px else 0


def tokens_for_model(file: File, model: ModelConfig) -> int:
    """Return the tokens of a file for the model; 0 for a picture it does not see, as a line stands in its place."""
    if file.kind == FileKind.IMAGE:
        return tokens_of_file(file) if model.supports_vision else 0
    counts: Mapping[str, int] = file.tokens_by_encoding
    return counts.get(model.tokenizer, file.token_count)


def fits_model(file: File, model: ModelConfig) -> bool:
    """Return whether a request to the model can hold the file alone."""
    return tokens_for_model(file, model) <= model.request_tokens
