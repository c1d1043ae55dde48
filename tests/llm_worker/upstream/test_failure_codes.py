"""What model servers say about their errors, in their dialects, and the code each one gets."""

import json

import pytest

from llm_worker.upstream.chunks import parse_chunk
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.failures import TOO_LONG, classify_status, read_error

pytestmark = pytest.mark.pure


def openai(message: str, code: object = None, kind: str = "invalid_request_error") -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


RESPONSES = [
    # Too long
    ("context_too_long", 400, openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded")),
    ("context_too_long", 400, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", "type": "BadRequestError", "code": 400}),
    ("context_too_long", 400, openai("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 400, "BadRequestError")),
    ("context_too_long", 400, {"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}}),
    ("context_too_long", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
    ("context_too_long", 400, openai("litellm.ContextWindowExceededError: litellm.BadRequestError: too many tokens", "400", "None")),
    ("context_too_long", 500, {"error": "input length exceeds the context length"}),
    ("context_too_long", 413, "<html><body>Request Entity Too Large</body></html>"),
    ("context_too_long", 422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096", "error_type": "validation"}),
    ("context_too_long", 400, [{"error": {"code": 400, "message": "The input token count (9) exceeds the maximum number of tokens allowed (8).", "status": "INVALID_ARGUMENT"}}]),
    ("context_too_long", 400, {"error": {"type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}}),
    ("context_too_long", 400, openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 299999)")),
    ("context_too_long", 400, openai("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", "invalid_parameter_error")),
    ("context_too_long", 400, openai("The input (9000 tokens) is longer than the maximum allowed input length (8192 tokens).")),
    ("context_too_long", 400, openai("Input length (9000) exceeds the maximum allowed length (8192).")),
    ("context_too_long", 422, {"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", "error_type": "validation"}),
    ("context_too_long", 400, openai("The prompt (total length 9000) is longer than the model's maximum length")),
    ("context_too_long", 400, {"error": "Trying to keep the first 9000 tokens when context the overflows."}),
    ("context_too_long", 400, openai("Please reduce the length of the messages or completion.")),
    ("context_too_long", 400, openai("max_tokens must be at least 1, got -223.", 400, "BadRequestError")),
    ("context_too_long", 400, openai("`max_completion_tokens` is not valid: -17", 400, "BadRequestError")),
    ("context_too_long", 400, openai("Total tokens of image and text exceed max message tokens")),
    ("upstream_rejected", 400, openai("max_tokens must be at least 1, got 0.", 400, "BadRequestError")),
    # An image, not the model, is what is not found
    ("upstream_rejected", 404, openai("No endpoints found that support image input", 404)),
    ("upstream_rejected", 404, openai("No endpoints found that support tool use.", 404)),
    # No such model
    ("model_not_found", 404, openai("The model `gpt-9` does not exist", "model_not_found")),
    ("model_not_found", 404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}}),
    ("model_not_found", 404, {"error": {"message": 'model "x" not found, try pulling it first', "type": "api_error"}}),
    ("model_not_found", 404, {"detail": "Not Found"}),
    ("model_not_found", 403, openai("Project `p` does not have access to model `m`", "model_not_found")),
    ("model_not_found", 400, openai("Invalid model name passed in model=x", "400", "None")),
    ("model_not_found", 400, openai("The model `x` does not exist.")),
    # Not authorised
    ("upstream_auth", 401, openai("Incorrect API key provided", "invalid_api_key")),
    ("upstream_auth", 401, {"statusCode": 401, "message": "Access denied due to invalid subscription key."}),
    ("upstream_auth", 403, {"detail": "Forbidden"}),
    # Quota
    ("upstream_quota", 402, {"error": {"code": 402, "message": "Insufficient credits"}}),
    ("upstream_quota", 429, openai("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota")),
    ("upstream_quota", 429, openai("You exceeded your current quota, please check your plan.")),
    ("upstream_quota", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}),
    ("upstream_quota", 429, openai("Insufficient balance or no resource package. Please recharge.", "1113")),
    ("upstream_quota", 429, openai("您的账户已欠费。请充值后重试", "1113")),
    ("upstream_quota", 429, openai("该账户不可用", 1113)),
    ("upstream_quota", 429, openai("账户余额不足")),
    ("upstream_quota", 429, openai("Ihr Guthaben ist aufgebraucht.")),
    ("upstream_quota", 429, openai("Недостаточно средств на счёте")),
    ("upstream_quota", 429, openai("Saldo insuficiente")),
    ("upstream_quota", 429, {"base_resp": {"status_code": 1008, "status_msg": "…"}}),
    ("upstream_rate_limited", 429, openai("请求过于频繁。请稍后重试", "1302")),
    ("upstream_quota", 400, openai("Access denied, please make sure your account is in good standing.", "Arrearage")),
    ("upstream_quota", 429, openai("Your account is suspended, please check your plan: insufficient balance", None, "exceeded_current_quota_error")),
    # Busy
    ("upstream_rate_limited", 429, openai("Rate limit reached for gpt-4 on tokens per min.", "rate_limit_exceeded", "tokens")),
    ("upstream_rate_limited", 429, openai("Quota exceeded for metric: requests per minute", 429)),
    ("upstream_rate_limited", 429, {"error": {"code": "429", "message": "Requests have exceeded token rate limit. Please retry after 16 seconds. https://aka.ms/oai/quotaincrease"}}),
    ("upstream_rate_limited", 429, openai("too many tokens in the last minute", "429")),
    ("upstream_rate_limited", 413, openai("Request too large on tokens per minute (TPM)", "rate_limit_exceeded", "tokens")),
    ("upstream_rate_limited", 429, ""),
    # Filtered
    ("content_filtered", 400, {"error": {"code": "content_filter", "message": "The response was filtered", "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    ("content_filtered", 400, openai("Your request was rejected as a result of our safety system.", "content_policy_violation")),
    # Reached, but it failed
    ("upstream_unavailable", 500, {"detail": "Internal Server Error"}),
    ("upstream_unavailable", 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
    ("upstream_unavailable", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ("upstream_unavailable", 502, "<html><head><title>502 Bad Gateway</title></head></html>"),
    ("upstream_timeout", 504, "<html><head><title>504 Gateway Time-out</title></head></html>"),
    # The request itself
    ("upstream_rejected", 400, openai("Unrecognized request argument supplied: foo")),
    ("upstream_rejected", 422, {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]}),
    ("upstream_rejected", 400, ""),
    # A template that refuses the messages is no outage
    ("upstream_rejected", 500, {"error": {"code": 500, "message": "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", "type": "server_error"}}),
    ("upstream_rejected", 500, openai("System role not supported at row 1, column 45", 500, "server_error")),
    ("context_too_long", 500, openai("the request exceeds the available context size (jinja template)", 500)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "status", "body"), RESPONSES)
def test_the_body_of_an_error_response_decides_with_its_status_which_code_it_has(code, status, body):
    text = body if isinstance(body, str) else json.dumps(body)
    assert classify_status(status, read_error(text)) == code


IN_STREAMS = [
    (
        "context_too_long",
        {"error": {"code": 400, "message": "the request exceeds the available context size"}},
    ),
    (
        "context_too_long",
        {"object": "error", "message": "maximum context length is 4096 tokens", "code": 400},
    ),
    ("upstream_rate_limited", {"error": {"message": "Rate limit reached", "type": "tokens", "code": "429"}}),
    ("upstream_quota", {"error": {"message": "Insufficient credits", "code": 402}}),
    (
        "upstream_unavailable",
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ),
    ("content_filtered", {"error": {"message": "filtered", "code": "content_filter"}}),
    ("upstream_timeout", {"error": "the request timed out"}),
    ("upstream_interrupted", {"error": {"message": "CUDA error", "code": 500, "type": "server_error"}}),
    ("upstream_interrupted", {"error": {"message": "out of memory"}}),
    ("upstream_interrupted", {"error": True}),
]


@pytest.mark.parametrize(("code", "chunk"), IN_STREAMS)
def test_an_error_inside_a_stream_has_the_code_of_what_it_says(code, chunk):
    with pytest.raises(ModelFailed) as failed:
        parse_chunk(json.dumps(chunk).encode())
    assert failed.value.code == code


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        pytest.param({"error": {"message": "No.", "type": "t", "code": "c"}}, "c", "No.", id="OpenAI"),
        pytest.param({"type": "error", "error": {"type": "t", "message": "No."}}, "t", "No.", id="Anthropic"),
        pytest.param({"error": "No."}, "", "No.", id="Ollama"),
        pytest.param({"error": "No.", "error_type": "t"}, "t", "No.", id="TGI"),
        pytest.param({"detail": [{"loc": ["body", "n"], "msg": "No."}]}, "", "body.n: No.", id="FastAPI"),
        pytest.param([{"error": {"message": "No.", "status": "S"}}], "S", "No.", id="a list"),
        pytest.param(
            {"message": '{"error": {"message": "No.", "code": "c"}}'}, "c", "No.", id="JSON in JSON"
        ),
        pytest.param("<html><style>p{}</style><h1>No.</h1><script>1</script>", "", "No.", id="HTML"),
        pytest.param("No.", "", "No.", id="a text"),
        pytest.param("[" * 5_000, "", "[" * 5_000, id="nested too deep"),
        pytest.param({"code": 7}, "", '{"code": 7}', id="nothing in words"),
    ],
)
def test_the_code_and_the_message_are_found_in_every_dialect(body, code, message):
    report = read_error(body if isinstance(body, str) else json.dumps(body))
    assert (report.code, report.message) == (code, message)


def test_every_server_has_one_line_for_a_context_that_is_too_long():
    servers = [server for server, _ in TOO_LONG]
    assert len(set(servers)) == len(servers) >= 16
