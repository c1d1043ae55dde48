"""The bodies of operations on providers."""

import re
from typing import Any, Final

from rest_framework import serializers

from chat.runs.providers.offered_models import MAX_MODELS, MAX_NAME_CHARACTERS
from web.rest.fields import (
    MESSAGES,
    DescribedField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictSerializer,
    VisibleCharField,
)

# The same range as for LLM_MODELS.
SMALLEST_WINDOW: Final = 512
LARGEST_WINDOW: Final = 10**8
MAX_KEY_CHARACTERS: Final = 2_000
# The most models that one request changes.
MAX_MODELS_AT_ONCE: Final = 100
_KEY: Final = r"^[!-~]*$"
_PRICE: Final = r"^[0-9]{1,6}(\.[0-9]{1,6})?$"


class PatternField(StrictCharField):
    """A string that matches a regular expression of JSON Schema."""

    def __init__(self, pattern: str, **kwargs: Any) -> None:
        self._pattern = pattern
        super().__init__(**kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        text = super().run_validation(data)
        # In JSON Schema, $ matches only the end of the text.
        if isinstance(text, str) and not re.fullmatch(self._pattern.strip("^$"), text):
            self.fail("invalid_value")
        return text

    def json_schema(self) -> dict[str, Any]:
        return {"pattern": self._pattern}


def _price(**kwargs: Any) -> PatternField:
    return PatternField(
        _PRICE, required=False, allow_null=True, help_text="Per million tokens; null: unknown.", **kwargs
    )


class ProviderModelBody(StrictSerializer):
    upstream_name = VisibleCharField(max_length=MAX_NAME_CHARACTERS, help_text="As the server calls it.")
    name = VisibleCharField(
        max_length=MAX_NAME_CHARACTERS,
        required=False,
        help_text="As people see it, once among all models. Left out: chosen.",
    )
    enabled = StrictBooleanField(required=False)
    context_window = StrictIntegerField(required=False, min_value=SMALLEST_WINDOW, max_value=LARGEST_WINDOW)
    supports_vision = StrictBooleanField(required=False)
    supports_tools = StrictBooleanField(required=False)
    prompt_price = _price()
    cached_price = _price()
    completion_price = _price()


class ModelListField(serializers.ListField, DescribedField):
    default_error_messages = MESSAGES
    child = ProviderModelBody()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=1, max_length=MAX_MODELS_AT_ONCE, **kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {"minItems": 1, "maxItems": MAX_MODELS_AT_ONCE}


class ProviderModelsBody(StrictSerializer):
    models = ModelListField(help_text=f"A provider has at most {MAX_MODELS}.")


class ProviderBody(StrictSerializer):
    name = VisibleCharField(max_length=100)
    base_url = VisibleCharField(max_length=500, help_text="It usually ends in /v1.")
    api_key = PatternField(
        _KEY,
        max_length=MAX_KEY_CHARACTERS,
        required=False,
        write_only=True,
        help_text="Stored encrypted, and never answered. Empty: the server is sent none. Another server than before needs it "
        "again.",
    )
    is_enabled = StrictBooleanField(required=False)


class ProviderCheckBody(StrictSerializer):
    model = VisibleCharField(
        max_length=MAX_NAME_CHARACTERS,
        required=False,
        help_text="As the server calls it. Left out: one that is enabled is tried, if there is one.",
    )
