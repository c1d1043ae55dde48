"""Lists of models: read from real servers, in the dialects there are, and bounded."""

import json
import socket
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver

from llm_worker.request.model_message import Message
from llm_worker.upstream import guarded_resolver, model_list
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_list import ListedModel, ListFailed, list_models, parse_model_list
from llm_worker.upstream.model_request import Model, Request
from tests.upstream import Upstream

KEY = "key-of-the-cloud-987654"


def parsed(*rows: Any) -> list[ListedModel]:
    return parse_model_list(json.dumps({"data": rows}).encode())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": "gpt"}, ListedModel("gpt")),
        ({"id": "q", "max_model_len": 32768}, ListedModel("q", 32768)),
        ({"id": "q", "context_length": "many"}, ListedModel("q")),
        (
            {"id": "q", "context_length": 8192, "pricing": {"prompt": "0.0000025", "completion": "0.00001"}},
            ListedModel("q", 8192, "2.5", "10"),
        ),
        ({"id": "q", "pricing": {"prompt": "-1", "completion": "NaN"}}, ListedModel("q")),
        ({"id": "q", "pricing": {"prompt": "0", "completion": "1e30"}}, ListedModel("q", None, "0")),
    ],
)
def test_window_and_prices_are_taken_from_servers_that_tell_them(row: Any, expected: ListedModel) -> None:
    assert parsed(row) == [expected]


def test_models_are_sorted_and_what_is_no_model_is_left_out() -> None:
    rows = [
        {"id": "b"},
        {"id": "a"},
        {"id": "b"},
        {"id": ""},
        {"id": 3},
        "c",
        {"id": "x" * 201},
        {"id": "n\n"},
    ]
    assert [model.id for model in parsed(*rows)] == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"<html>", "not_json"),
        (b"[" * 100_000, "not_json"),
        (b"[]", "not_openai"),
        (b'{"data": 1}', "not_openai"),
    ],
)
def test_another_answer_is_named(body: bytes, code: str) -> None:
    with pytest.raises(ListFailed) as failed:
        parse_model_list(body)
    assert failed.value.code == code


async def code_of(base_url: str) -> tuple[str, str]:
    with pytest.raises(ListFailed) as failed:
        await list_models(Model("", base_url, KEY, is_guarded=True))
    return failed.value.code, failed.value.detail


async def test_the_key_is_sent_and_the_models_come_back(upstream: Upstream) -> None:
    upstream.models = ["zulu", "alpha"]
    found = await list_models(Model("", upstream.base_url, KEY, is_guarded=True))
    assert [model.id for model in found] == ["alpha", "zulu"]
    assert upstream.listings[0]["Authorization"] == f"Bearer {KEY}"


async def test_without_a_key_none_is_sent(upstream: Upstream) -> None:
    await list_models(Model("", upstream.base_url, is_guarded=True))
    assert "Authorization" not in upstream.listings[0]


@pytest.mark.parametrize(
    ("listing", "code"),
    [
        ({"status": 401, "body": f'{{"error": "no such key: {KEY}"}}'}, "upstream_auth"),
        ({"status": 404}, "no_model_list"),
        ({"status": 500}, "upstream_unavailable"),
        ({"status": 302, "headers": {"Location": "http://169.254.169.254/"}}, "redirected"),
        ({"body": "hello"}, "not_json"),
        ({"body": " " * (model_list.MAX_BYTES + 1)}, "list_too_long"),
    ],
)
async def test_what_goes_wrong_has_a_code_and_never_the_key(
    upstream: Upstream, listing: dict[str, Any], code: str
) -> None:
    upstream.listing = listing
    found, detail = await code_of(upstream.base_url)
    assert found == code
    assert KEY not in detail
    assert len(upstream.listings) == 1  # no redirect was followed


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    assert (await code_of("http://127.0.0.1:9/v1"))[0] == "upstream_unreachable"


async def test_a_silent_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_list, "TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert (await code_of(f"http://127.0.0.1:{silent.getsockname()[1]}/v1"))[0] == "upstream_timeout"


async def test_a_name_that_leads_to_the_metadata_of_a_machine_is_refused(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rebinding(AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: Any = 0) -> Any:
            return [
                {"hostname": host, "host": address, "port": port, "family": 2, "proto": 0, "flags": 0}
                for address in ("127.0.0.1", "169.254.169.254")
            ]

        async def close(self) -> None: ...

    monkeypatch.setattr(guarded_resolver, "DefaultResolver", Rebinding)
    assert (await code_of(f"http://models.example:{upstream.port}/v1"))[0] == "address_refused"
    assert upstream.listings == []


@pytest.mark.parametrize("host", ["169.254.169.254", "169。254。169。254", "[::ffff:169.254.169.254]"])
async def test_an_address_that_no_name_server_is_asked_for_is_refused_in_any_spelling(host: str) -> None:
    base_url = f"http://{host}/v1"
    assert (await code_of(base_url))[0] == "address_refused"
    models = LanguageModels(connections=10, silence_s=3, first_retry_s=0.001)
    asked = Request(Model("scripted", base_url, KEY, is_guarded=True), [Message("U", "Why?")])
    with pytest.raises(ModelFailed, match="metadata"):
        _ = [deltas async for deltas in models.stream(asked)]
    await models.close()
