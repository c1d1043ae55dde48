"""A request that is redirected goes on with its body and its key, to the same host alone."""

import pytest

from llm_worker.request.model_message import Message
from llm_worker.upstream.deltas import ModelFailed, TextDelta
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.transport import redirect_target


@pytest.fixture
async def models():
    models = LanguageModels(connections=10, silence_s=3, first_retry_s=0.001)
    yield models
    await models.close()


def request(upstream, **more):
    return Request(Model("scripted", upstream.base_url, api_key="secret", **more), [Message("U", "Why?")])


async def answer(models, asked):
    return [delta async for deltas in models.stream(asked) for delta in deltas]


@pytest.mark.parametrize("status", [301, 307, 308])
async def test_a_redirect_to_the_same_host_is_followed_with_body_and_key(models, upstream, status):
    upstream.reply({"status": status, "location": "/v1/chat/completions?moved=1"}, times=1)
    upstream.reply({"text": "Because."})
    asked = request(upstream)
    assert TextDelta("Because.") in await answer(models, asked)
    first, second = upstream.requests
    assert second.body == first.body
    assert second.headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"status": 308, "location": "http://elsewhere.invalid/v1?key=7"}, "http://elsewhere.invalid/v1"),
        ({"status": 302, "location": "/login"}, "/login"),
        ({"status": 308}, "nowhere"),
        ({"status": 308, "location": "http://[broken"}, "http://[broken"),
    ],
    ids=["another host", "another method", "nowhere", "no address"],
)
async def test_other_redirects_fail_with_where_they_lead(models, upstream, step, told):
    upstream.reply(step)
    with pytest.raises(ModelFailed) as failed:
        await answer(models, request(upstream))
    assert (failed.value.code, failed.value.detail) == (
        "upstream_rejected",
        f"the address redirects to {told}",
    )
    assert len(upstream.requests) == 1


async def test_redirects_in_a_circle_end(models, upstream):
    upstream.reply({"status": 307, "location": "/v1/chat/completions"})
    with pytest.raises(ModelFailed, match="the address redirects"):
        await answer(models, request(upstream))
    assert len(upstream.requests) == 4


async def test_the_key_of_a_guarded_server_follows_none(upstream):
    models = LanguageModels(connections=10, silence_s=3)
    upstream.reply({"status": 308, "location": "/v1/chat/completions"})
    with pytest.raises(ModelFailed):
        await answer(models, request(upstream, is_guarded=True))
    assert len(upstream.requests) <= 1
    await models.close()


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/v2", "http://a.example/v2"),
        ("http://a.example:80/v2", "http://a.example/v2"),
        ("https://a.example/v1", "https://a.example/v1"),
        ("https://a.example:8443/v1", ""),
        ("http://a.example:8080/v1", ""),
        ("http://b.example/v1", ""),
        ("ftp://a.example/v1", ""),
        ("", ""),
    ],
)
def test_only_the_same_host_is_a_target(location, target):
    assert redirect_target("http://a.example/v1", location) == target


def test_nothing_leads_away_from_https():
    assert redirect_target("https://a.example/v1", "http://a.example/v1") == ""
