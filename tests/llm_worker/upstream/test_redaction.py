"""What servers say is stored without the secrets they quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.upstream.redaction import redact

pytestmark = pytest.mark.pure

KEY = "local-key-4711-abcdef"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param(f"Invalid key {KEY}!", "Invalid key [redacted]!", id="the key that was sent"),
        pytest.param(f"Invalid key {KEY[:12]}…", "Invalid key [redacted]…", id="its beginning"),
        pytest.param("Bad sk-proj-abc123DEF456", "Bad [redacted]", id="another key"),
        pytest.param("Incorrect: sk-ab**********89.", "Incorrect: [redacted]", id="a masked key"),
        pytest.param("sent Bearer abc.def", "sent Bearer [redacted]", id="Bearer"),
        pytest.param("no user ann@example.org", "no user [redacted]", id="e-mail"),
        pytest.param("at https://ann:pw@host/v1", "at https://[redacted]@host/v1", id="credentials in an address"),
        pytest.param('{"api_key": "hunter22"}', '{"api_key": "[redacted]"}', id="a field"),
        pytest.param("GET /v1?api-key=hunter22&x=1", "GET /v1?api-key=[redacted]&x=1", id="a parameter"),
        pytest.param("hash 0123456789abcdef0123456789abcdef", "hash [redacted]", id="long"),
        pytest.param("a\0b\x1b[1m\u202ec\n\td", "ab[1mc d", id="control characters"),
        pytest.param("sk-\0ab\u200bcdefgh", "[redacted]", id="a key interrupted by characters without width"),
    ],
)  # fmt: skip
def test_secrets_and_control_characters_are_removed(said, kept):
    assert redact(said, [KEY], limit=200) == kept


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (max_tokens=500).",
        "The model `meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo` does not exist",
        "request 3fa85f64-5717-4562-b3fc-2c963f66afa6 failed, see https://example.org/help",
        "task-runner: basic authentication is off",
    ],
)
def test_what_helps_an_administrator_stays(said):
    assert redact(said, ["x"], limit=2_000) == said


@given(st.text(max_size=100), st.text(max_size=100), st.integers(1, 50))
def test_the_key_never_stays_and_the_limit_holds(before, after, limit):
    said = redact(f"{before}{KEY}{after}", [KEY], limit=limit)
    assert KEY not in said
    assert len(said) <= limit
    said.encode()  # no lone surrogates
