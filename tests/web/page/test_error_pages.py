"""Error pages are our own, with the variable DEBUG as well, and reports about errors contain no secret."""

import logging
import sys
from io import StringIO
from urllib.parse import urlsplit

import httpx2
import pytest
from django.conf import settings
from django.http import QueryDict
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views.debug import ExceptionReporter, get_exception_reporter_filter

from config import secret_filter
from features.accounts import page as accounts_page
from features.sharing import page
from tests.stack import Stack
from web.page import urls

SECRET = "correct-horse-battery"
# What only Django's technical pages say.
TECHNICAL = (
    "Traceback",
    "INSTALLED_APPS",
    "DATABASES",
    "urlconf",
    "URLconf",
    "DEBUG = True",
    "DisallowedHost",
)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        pytest.param("/", {"Host": "x"}, 400, id="foreign host"),
        pytest.param("/nowhere/", {}, 404, id="unknown path"),
        pytest.param("/shared/../%00/", {}, 404, id="strange path"),
        pytest.param("/login/", {"Host": "x" * 300}, 400, id="long host"),
    ],
)
def test_no_technical_page_answers_an_anonymous_request_to_an_instance_in_debug(
    stack: Stack, path: str, headers: dict[str, str], status: int
) -> None:
    assert stack.environment["DEBUG"] == "1"
    answer = httpx2.get(stack.base_url + path, headers=headers, trust_env=False)
    assert answer.status_code == status
    passwords = {urlsplit(stack.environment[name]).password for name in ("DATABASE_URL", "REDIS_URL")}
    assert not [word for word in {*TECHNICAL, *passwords} if word and word in answer.text]
    assert "Turnwire" in answer.text, "a page of our own"


def test_an_unexpected_error_of_a_page_is_our_own_page_without_details(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.page.index.THEMES", None)  # what every template asks for
    answer = Client(raise_request_exception=False).get("/login/")
    assert (answer.status_code, "Something went wrong" in answer.text) == (500, True)
    assert not [word for word in TECHNICAL if word in answer.text]


def connect() -> None:
    api_key = SECRET  # noqa: F841  a local variable of the frame
    address = f"postgresql://someone:{SECRET}@db.example/x"
    raise RuntimeError(f"cannot connect to {address}")


@pytest.fixture
def failure(monkeypatch: pytest.MonkeyPatch) -> tuple[type[BaseException], BaseException, object]:
    """An exception whose message, frame and settings hold secrets."""
    monkeypatch.setattr(settings, "SEARCH_ADDRESS", f"https://someone:{SECRET}@search.example", raising=False)
    try:
        connect()
    except RuntimeError:
        found = sys.exc_info()
    assert found[0] is not None
    assert found[1] is not None
    return found[0], found[1], found[2]


def test_reports_of_django_contain_no_secret(
    failure: tuple[type[BaseException], BaseException, object],
) -> None:
    request = RequestFactory().post(
        "/login/", {"username": "alice", "password": SECRET}, headers={"Authorization": f"Token {SECRET}"}
    )
    request.COOKIES["sessionid"] = SECRET
    reporter = ExceptionReporter(request, *failure, is_email=True)  # type: ignore[arg-type]
    safe = get_exception_reporter_filter(request)
    assert isinstance(safe.get_post_parameters(request), QueryDict | dict)
    shown = f"{safe.get_safe_settings()} {safe.get_safe_request_meta(request)} {safe.get_post_parameters(request)}"
    frames = "".join(str(frame["vars"]) for frame in reporter.get_traceback_frames())
    database = settings.DATABASES["default"]["PASSWORD"]
    for text in (shown, frames):
        assert SECRET not in text
        assert database not in text
        assert settings.SECRET_KEY not in text
    assert "'alice'" in shown, "the rest is still reported"


@pytest.mark.parametrize("name", ["REDIS_URL", "CELERY_BROKER_URL", "STORAGE_URL", "EMAIL_URL"])
def test_no_report_contains_the_password_of_a_service(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    secret_filter.secrets_of_process.cache_clear()
    monkeypatch.setattr(settings, name, f"scheme://someone:{SECRET}@service.example")
    try:
        assert secret_filter.redact(f"someone, {SECRET}: refused") == "someone, [redacted]: refused"
    finally:
        secret_filter.secrets_of_process.cache_clear()


def test_no_log_record_contains_a_secret_whoever_formats_it(
    failure: tuple[type[BaseException], BaseException, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = StringIO()
    logger = logging.getLogger("celery.app.trace")
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    try:
        logger.error(
            "task failed with %s at %s", settings.SECRET_KEY, settings.DATABASE_URL, exc_info=failure
        )  # type: ignore[arg-type]
    finally:
        logger.removeHandler(handler)
    text = written.getvalue()
    assert "RuntimeError: cannot connect to postgresql://" in text
    for secret in (SECRET, settings.SECRET_KEY, urlsplit(settings.DATABASE_URL).password or "-"):
        assert secret not in text


@pytest.mark.parametrize(
    "detail",
    [
        "Failing row contains (1, pbkdf2_canary, two\nlines (canary), null).",
        "Key (email)=(canary@example.org) already exists.",
        'Key (owner_id)=(canary) is not present in table "auth_user".',
    ],
)
def test_a_row_that_postgres_refuses_is_in_no_record(detail: str) -> None:
    text = f"IntegrityError: it violates a constraint\nDETAIL:  {detail}\n\nThe above exception was raised"
    shown = secret_filter.redact(text)
    assert "canary" not in shown
    assert shown.startswith("IntegrityError: it violates a constraint\nDETAIL:  [redacted]\n")
    assert shown.endswith("The above exception was raised")


def test_no_record_contains_the_token_of_a_link() -> None:
    """The paths of refused requests are logged, also those of links that are still good."""
    token = "canary-0123456789abcdef:1x"
    with_tokens = [
        route
        for route in (*urls.urlpatterns, *accounts_page.urlpatterns, *page.urlpatterns)
        if "token" in route.pattern.converters
    ]
    assert len(with_tokens) == 7
    for one in with_tokens:
        given = dict.fromkeys(one.pattern.converters, "MQ") | {"token": token}
        shown = secret_filter.redact(f"Forbidden (CSRF): {reverse(one.name, kwargs=given)}")
        assert "canary" not in shown, shown
        assert "/[redacted]/" in shown
