"""The bodies of operations on providers."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from chat.protocol.body import Body
from chat.protocol.member_types import doc
from chat.protocol.members import Visible
from chat.runs.providers.offered_models import MAX_MODELS, MAX_NAME_CHARACTERS

# The same range as for LLM_MODELS.
SMALLEST_WINDOW: Final = 512
LARGEST_WINDOW: Final = 10**8
MAX_KEY_CHARACTERS: Final = 2_000
# The most models that one request changes.
MAX_MODELS_AT_ONCE: Final = 100
_KEY: Final = r"^[!-~]*$"
_PRICE: Final = r"^[0-9]{1,6}(\.[0-9]{1,6})?$"


_ModelName = Annotated[Visible, Meta(max_length=MAX_NAME_CHARACTERS)]
_Price = Annotated[
    Annotated[str, Meta(pattern=_PRICE)] | UnsetType | None, doc("Per million tokens; null: unknown.")
]


class ProviderModelBody(Body):
    upstream_name: Annotated[_ModelName, doc("As the server calls it.")]
    name: (
        Annotated[_ModelName, doc("As people see it, once among all models. Left out: chosen.")] | UnsetType
    ) = UNSET
    enabled: bool | UnsetType = UNSET
    context_window: Annotated[int, Meta(ge=SMALLEST_WINDOW, le=LARGEST_WINDOW)] | UnsetType = UNSET
    supports_vision: bool | UnsetType = UNSET
    supports_tools: bool | UnsetType = UNSET
    prompt_price: _Price = UNSET
    cached_price: _Price = UNSET
    completion_price: _Price = UNSET


class ProviderModelsBody(Body):
    models: Annotated[
        list[ProviderModelBody],
        Meta(min_length=1, max_length=MAX_MODELS_AT_ONCE),
        doc(f"A provider has at most {MAX_MODELS}."),
    ]


class ProviderBody(Body):
    name: Annotated[Visible, Meta(max_length=100)]
    base_url: Annotated[Visible, Meta(max_length=500), doc("It usually ends in /v1.")]
    api_key: (
        Annotated[
            str,
            Meta(pattern=_KEY, max_length=MAX_KEY_CHARACTERS, extra_json_schema={"writeOnly": True}),
            doc(
                "Stored encrypted, and never answered. Empty: the server is sent none. Another server than before needs it "
                "again."
            ),
        ]
        | UnsetType
    ) = UNSET
    is_enabled: bool | UnsetType = UNSET


class ProviderCheckBody(Body):
    model: (
        Annotated[
            _ModelName,
            doc("As the server calls it. Left out: one that is enabled is tried, if there is one."),
        ]
        | UnsetType
    ) = UNSET
