"""OpenAI's own client lists the models of a real server by a base URL and a token."""

import openai
import pytest

from tests.stack import Stack

pytestmark = pytest.mark.e2e


def test_the_sdk_lists_and_reads_models(stack: Stack) -> None:
    token = stack.create_token("alice")
    with openai.OpenAI(base_url=f"{stack.base_url}/v1", api_key=token, max_retries=0) as client:
        names = [model.id for model in client.models.list()]
        # The default first, then by name. Other tests with the same processes may have added models.
        assert names == ["alpha", *sorted(names[1:])]
        assert {"beta", "gamma"} <= set(names)
        assert client.models.retrieve("alpha").id == "alpha"
        with pytest.raises(openai.NotFoundError) as missing:
            client.models.retrieve("agent/nobody's")
        assert missing.value.code == "model_not_found"
    with (
        openai.OpenAI(base_url=f"{stack.base_url}/v1", api_key="nonsense", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        stranger.models.list()
    assert refused.value.code == "invalid_api_key"
