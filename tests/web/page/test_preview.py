"""The documents of previews: their policies, who embeds them, and what pages say of them."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.test import Client

DOCUMENTS = ("/preview/html/", "/preview/diagram/")


def policy(path: str, **headers: Any) -> dict[str, str]:
    """The directives of the answer's policy."""
    value = Client().get(path, **headers)["Content-Security-Policy"]
    return dict(part.strip().partition(" ")[::2] for part in value.split(";"))


@pytest.mark.django_db
@pytest.mark.parametrize("path", DOCUMENTS)
def test_their_origin_is_opaque_and_they_have_no_network(path: str) -> None:
    found = policy(path)
    assert found["sandbox"] == "allow-scripts"
    assert (
        found["default-src"] == found["connect-src"] == found["form-action"] == found["base-uri"] == "'none'"
    )
    assert found["frame-ancestors"] == "'self'"
    assert not {"frame-src", "worker-src", "object-src"} & set(found), "default-src says it"
    response = Client().get(path)
    assert "X-Frame-Options" not in response
    assert response.cookies == {}
    assert "Connection-Allowlist" in response


@pytest.mark.django_db
def test_what_html_shows_comes_from_nowhere() -> None:
    sources = " ".join(value for name, value in policy("/preview/html/").items() if name.endswith("-src"))
    assert set(sources.split()) == {"'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"}


@pytest.mark.django_db
def test_only_the_two_scripts_of_diagrams_run_there() -> None:
    sources = policy("/preview/diagram/")["script-src"].split()
    assert len(sources) == 2
    assert all(source.startswith("http://testserver/static/preview/") for source in sources)


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_they_are_only_read(method: str) -> None:
    assert getattr(Client(), method)("/preview/html/").status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("hosts", "ancestors"),
    [
        (["chat.example.org"], "chat.example.org:*"),
        (["chat.example.org", ".example.net"], "chat.example.org:* *.example.net:* example.net:*"),
        (["[::1]", "127.0.0.1"], "127.0.0.1:*"),
        (["*"], "*"),
        (["[::1]"], "'none'"),
    ],
)
def test_with_an_origin_of_its_own_the_hosts_of_the_page_embed_it(
    hosts: list[str], ancestors: str, settings: Any
) -> None:
    settings.PREVIEW_ORIGIN, settings.PAGE_HOSTS = "https://preview.example.org", hosts
    assert policy("/preview/html/")["frame-ancestors"] == ancestors


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("origin", "source", "address"),
    [
        ("", "http://testserver/preview/", "/preview/"),
        (
            "https://preview.example.org",
            "https://preview.example.org/preview/",
            "https://preview.example.org/preview/",
        ),
    ],
)
def test_the_page_embeds_these_documents_and_files_alone(
    origin: str, source: str, address: str, settings: Any
) -> None:
    settings.PREVIEW_ORIGIN = origin
    alice = Client()
    alice.force_login(User.objects.create_user("alice"))
    response = alice.get("/")
    assert f"frame-src blob: {source};" in f"{response['Content-Security-Policy']};"
    assert f'data-preview="{address}"' in response.content.decode()


@pytest.mark.django_db
def test_a_host_that_no_policy_can_name_embeds_from_itself(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["[::1]"]
    response = Client().get("/shared/nothing/", HTTP_HOST="[::1]:8000")
    assert "frame-src 'self';" in f"{response['Content-Security-Policy']};"


@pytest.mark.slow
@pytest.mark.pure
def test_deployments_are_warned_of_an_origin_that_browsers_do_not_load(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.PREVIEW_ORIGIN = "http://preview.example.org"
    found = [str(each.id) for each in run_checks(include_deployment_checks=True)]
    assert "turnwire.W004" in found
    settings.PREVIEW_ORIGIN = "https://preview.example.org"
    assert "turnwire.W004" not in [str(each.id) for each in run_checks(include_deployment_checks=True)]
