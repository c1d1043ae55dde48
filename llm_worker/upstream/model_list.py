"""Reads the models that an OpenAI-compatible server lists: GET models. Bounded in time and size, without redirects."""

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

import aiohttp
import httpx2

from chat.protocol.errors import MAX_MESSAGE_CHARACTERS
from llm_worker.upstream.failures import classify_status, read_error
from llm_worker.upstream.guarded_resolver import AddressRefused, provider_connector
from llm_worker.upstream.model_request import Model
from llm_worker.upstream.redaction import redact
from llm_worker.upstream.transport import proxy_of

TIMEOUT_S: Final = 20.0
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_MODELS: Final = 2_000
MAX_NAME_CHARACTERS: Final = 200
# Names of the context window: OpenRouter, Groq; vLLM; llama.cpp, LiteLLM.
_WINDOWS: Final = ("context_length", "context_window", "max_model_len", "max_context_length")
MAX_WINDOW: Final = 10**8
# Prices of OpenRouter are per token.
PRICE_UNIT_TOKENS: Final = 1_000_000
MAX_PRICE: Final = 100_000


class ListedModel(NamedTuple):
    """A model as the server lists it. None: the server does not state it. Prices are per million tokens."""

    id: str
    context_window: int | None = None
    prompt_price: str | None = None
    completion_price: str | None = None


class ListFailed(Exception):
    """The list of models could not be read.

    code: one of chat.protocol.errors.CHECK_ERRORS.  detail: what the server said, redacted.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        self.code, self.detail = code, detail
        super().__init__(f"{code}: {detail}")


async def list_models(model: Model) -> list[ListedModel]:
    """List the models of the server of `model`, sorted by name. The name of `model` is not used. Raises ListFailed."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            status, location, body = await _get(model)
    except TimeoutError:
        raise ListFailed("upstream_timeout") from None
    except AddressRefused:
        raise ListFailed("address_refused") from None
    except (aiohttp.ClientError, aiohttp.InvalidURL, httpx2.InvalidURL, OSError, ValueError) as error:
        refused = isinstance(error.__cause__, AddressRefused)
        code = "address_refused" if refused else "upstream_unreachable"
        raise ListFailed(code, _shown(str(error) or repr(error), model)) from None
    if 300 <= status < 400:
        raise ListFailed("redirected", _shown(location, model))
    if status != 200:
        raise _refused(status, body, model)
    return parse_model_list(body)


async def _get(model: Model) -> tuple[int, str, bytes]:
    """Request the list, and return the status, the target of a redirect, and the body."""
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if model.api_key:
        headers["Authorization"] = f"Bearer {model.api_key}"
    connector = provider_connector(ssl=httpx2.create_ssl_context())
    async with (
        aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), proxy=proxy_of(model.base_url)
        ) as session,
        session.get(
            f"{model.base_url.rstrip('/')}/models", headers=headers, allow_redirects=False
        ) as answered,
    ):
        body = b""
        async for piece in answered.content.iter_any():
            body += piece
            if len(body) > MAX_BYTES:
                raise ListFailed("list_too_long")
        return answered.status, answered.headers.get("Location", ""), body


def _refused(status: int, body: bytes, model: Model) -> ListFailed:
    report = read_error(body[:MAX_BYTES].decode("utf-8", "replace"))
    code = "no_model_list" if status in (404, 405) else classify_status(status, report)
    return ListFailed(code, _shown(f"{status} {report.message}".strip(), model))


def parse_model_list(body: bytes) -> list[ListedModel]:
    """Parse the list of models, sorted by name. Raises ListFailed."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        raise ListFailed("not_json") from None
    rows = read.get("data") if isinstance(read, dict) else None
    if not isinstance(rows, list):
        raise ListFailed("not_openai")
    found = {model.id: model for row in rows if isinstance(row, dict) and (model := _listed(row))}
    return sorted(found.values())[:MAX_MODELS]


def _listed(row: Mapping[str, Any]) -> ListedModel | None:
    name = row.get("id")
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= MAX_NAME_CHARACTERS:
        return None
    windows = (row.get(key) for key in _WINDOWS)
    window = next((one for one in windows if type(one) is int and 0 < one <= MAX_WINDOW), None)
    prices = row.get("pricing")
    prices = prices if isinstance(prices, dict) else {}
    return ListedModel(name, window, _price(prices.get("prompt")), _price(prices.get("completion")))


def _price(per_token: object) -> str | None:
    try:
        price = Decimal(str(per_token)) * PRICE_UNIT_TOKENS
        if not 0 <= price <= MAX_PRICE:
            return None
        return f"{price.quantize(Decimal('0.000001')).normalize():f}"
    except InvalidOperation:
        return None


def _shown(text: str, model: Model) -> str:
    return redact(text, [model.api_key], limit=MAX_MESSAGE_CHARACTERS)
