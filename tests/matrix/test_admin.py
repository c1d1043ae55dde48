"""Every page of the admin by everybody. Pages of new models, and new pages of old ones, join by themselves."""

from typing import Any, NamedTuple

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from tests.matrix.admin_pages import EVERYBODY, OF_THE_SITE, OVERVIEW, Page, pages
from tests.matrix.belongings import MARK, Belongings, written_rows
from tests.matrix.subjects import Identity, csrf_cookies, csrf_headers, get_or_create, logged_in

LOGIN, DENIED, SERVED, REDIRECTED = "asked to log in", "denied", "served", "redirected"
OTHERS = {400: "bad request", 404: "not found", 405: "method not allowed"}
# Pages of a model that only show rows; all others change something. `object` leads to `change`.
READING = ("changelist", "change", "history")
# Those that Django makes alike of every model: every change asks for one of each kind, `make full` for all.
ALIKE = ("add", "delete", "history", "object")
# What the site writes for somebody who may look: an ended login, and that a session was exported.
UNRELATED = {"django_session"}
LOGGED = {"django_admin_log"}

Identities = dict[str, Identity]


class Answer(NamedTuple):
    """changed: tables that were written to."""

    outcome: str
    changed: tuple[str, ...] = ()
    leaked: bool = False


@pytest.fixture
def staff() -> Any:
    """Staff without a permission, until a test gives some."""
    return get_or_create("bob of the staff", is_staff=True)


@pytest.fixture
def outsiders(owned: Belongings, identities: Identities) -> Identities:
    """Nobody of them may enter the admin."""
    former = get_user_model().objects.create_superuser("former")
    login = logged_in(former)
    get_user_model().objects.filter(pk=former.pk).update(is_active=False)
    named = ("anonymous", "another user, cookie", "owner, cookie", "superuser, token")
    # With a CSRF token, so that it is not the lack of one that refuses them.
    others = {
        name: Identity(csrf_cookies() | identities[name].cookies, csrf_headers() | identities[name].headers)
        for name in named
    }
    return {"deactivated superuser": login, **others}


def each_page(*, of_models: bool) -> list[Any]:
    chosen = [one for one in pages() if bool(one.model) is of_models]
    return [pytest.param(one, id=one.path or "index", marks=_suite_of(one)) for one in chosen]


def _suite_of(page: Page) -> Any:
    one_more = page.model and page.kind in ALIKE and page.model != pages()[0].model
    return (pytest.mark.full,) if one_more else ()


def ask(identity: Identity, method: str, address: str, body: Any = None) -> Answer:
    """In a transaction that is rolled back."""
    with transaction.atomic():
        before = written_rows()
        response = getattr(identity.client(), method)(address, body or {})
        text = b"".join(response.streaming_content if response.streaming else [response.content])
        changed = {table for table, _ in written_rows().items() - before.items()} - UNRELATED
        transaction.set_rollback(True)
    return Answer(_outcome(response), tuple(sorted(changed)), MARK.encode() in text)


def _outcome(response: Any) -> str:
    if response.status_code == 302:
        return LOGIN if response["Location"].startswith("/admin/login/") else REDIRECTED
    known = {200: SERVED, 403: DENIED, **OTHERS}
    assert response.status_code in known, (response.status_code, response.content[:300])
    return known[response.status_code]


def give(person: Any, *codenames: str) -> None:
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))


EVERY_PAGE = [*each_page(of_models=True), *each_page(of_models=False)]
# Of every change: an ordinary user asks for every page, and everybody for the first of each kind.
ORDINARY = "another user, cookie"
FIRST_OF_A_KIND = {(one.values[0].kind, bool(one.values[0].model)): one.id for one in reversed(EVERY_PAGE)}


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_outsiders_are_asked_to_log_in(owned: Belongings, outsiders: Identities, page: Page) -> None:
    everybody = (page.path or "index") in FIRST_OF_A_KIND.values()
    asking = outsiders if everybody else {ORDINARY: outsiders[ORDINARY]}
    check_outsiders(asking, page)


@pytest.mark.full
@pytest.mark.parametrize("page", EVERY_PAGE)
def test_outsiders_are_asked_to_log_in_on_every_page(
    owned: Belongings, outsiders: Identities, page: Page
) -> None:
    check_outsiders(outsiders, page)


def check_outsiders(outsiders: Identities, page: Page) -> None:
    if OF_THE_SITE.get(page.name) == EVERYBODY and page.model is None:
        expected = {SERVED, REDIRECTED, OTHERS[405]}
    else:
        expected = {LOGIN}
    for address in page.addresses():
        for method in ("get", "post"):
            for name, identity in outsiders.items():
                answer = ask(identity, method, address)
                assert answer.outcome in expected, (name, method, address)
                assert answer == Answer(answer.outcome), (name, method, address)


@pytest.mark.parametrize("page", each_page(of_models=True))
def test_staff_without_the_permission_read_nothing(owned: Belongings, staff: Any, page: Page) -> None:
    """They may view every other table."""
    everything = Permission.objects.filter(codename__startswith="view_")
    staff.user_permissions.set(everything.exclude(codename=page.permission_to_view))
    identity = logged_in(staff)
    for address in page.addresses():
        expected = REDIRECTED if page.kind == "object" else DENIED
        assert ask(identity, "post", address) == Answer(expected), address
        if page.kind == "act":
            expected = OTHERS[405]
        assert ask(identity, "get", address) == Answer(expected), address


@pytest.mark.parametrize("page", each_page(of_models=True))
def test_staff_who_may_only_view_change_nothing(owned: Belongings, staff: Any, page: Page) -> None:
    give(staff, page.permission_to_view)
    identity = logged_in(staff)
    for address in page.addresses():
        shown, sent = (
            ask(identity, "get", address),
            ask(identity, "post", address, {"post": "yes", "text": "New"}),
        )
        if page.kind == "act":
            assert sent == _answer_of_action(page, address.split("/")[-2], sent), address
            continue
        assert shown.outcome == (
            SERVED if page.kind in READING else REDIRECTED if page.kind == "object" else DENIED
        ), address
        assert sent.outcome in (shown.outcome, DENIED), address
        assert (sent.outcome == DENIED) is (page.kind not in ("changelist", "history", "object")), address
        assert shown.changed == sent.changed == (), address


def _answer_of_action(page: Page, action: str, sent: Answer) -> Answer:
    """Actions that need no more than to view may be logged; no other may run."""
    allowed = getattr(page.registered, action).allowed_permissions
    return sent._replace(outcome=SERVED, changed=tuple(LOGGED)) if allowed == ["view"] else Answer(DENIED)


@pytest.mark.parametrize(
    "page", [one for one in each_page(of_models=True) if one.values[0].kind == "changelist"]
)
def test_no_action_of_a_list_changes_anything_for_staff_who_may_only_view(
    owned: Belongings, staff: Any, page: Page
) -> None:
    give(staff, page.permission_to_view)
    identity = logged_in(staff)
    row = page.registered.model._default_manager.order_by("pk").first()
    names = {"delete_selected", *(name for name in page.registered.actions or ())}
    for name in names:
        body = {"action": name, "_selected_action": [row.pk], "post": "yes"}
        for address in page.addresses():
            assert set(ask(identity, "post", address, body).changed) <= LOGGED, name


@pytest.mark.parametrize("page", [one for one in each_page(of_models=True) if one.values[0].kind in READING])
def test_superusers_see_every_row(owned: Belongings, identities: Identities, page: Page) -> None:
    """So that nothing but who asks is the reason of a refusal. What changes something is refused to superusers as well."""
    for address in page.addresses():
        assert ask(identities["superuser, cookie"], "get", address).outcome == SERVED, address


@pytest.mark.parametrize("page", each_page(of_models=False))
def test_pages_of_the_site_show_staff_without_permissions_nothing(
    owned: Belongings, staff: Any, page: Page
) -> None:
    assert page.name in OF_THE_SITE, f"{page.path}: add to OF_THE_SITE what it needs"
    give(staff)
    for address in page.addresses():
        for method in ("get", "post"):
            answer = ask(
                logged_in(staff), method, address, {"q": owned.ids["run"]} if method == "get" else None
            )
            assert answer.outcome != LOGIN, address
            assert (answer.changed, answer.leaked) == ((), False), address
            if OF_THE_SITE[page.name] == OVERVIEW:
                assert answer.outcome == DENIED, address
        if OF_THE_SITE[page.name] == OVERVIEW:
            give(staff, "view_run")
            assert ask(logged_in(staff), "get", address).outcome == SERVED


def test_staff_who_view_look_up_only_what_they_may_view(owned: Belongings, staff: Any) -> None:
    give(staff, "view_agent")
    found = {
        name: ask(logged_in(staff), "get", f"/admin/lookup/?q={owned.ids[name]}").outcome
        for name in ("agent", "run", "session", "answer", "turn", "share")
    }
    assert found == {name: REDIRECTED if name == "agent" else SERVED for name in found}


def test_a_malformed_address_below_the_admin_is_not_found(owned: Belongings, identities: Identities) -> None:
    kind = ContentType.objects.get(app_label="chat", model="session").pk
    for address in (f"/admin/r/{kind}/1/", "/admin/chat/session/1/act/stop/", "/admin/chat/nothing/"):
        assert ask(identities["superuser, cookie"], "post", address).outcome == OTHERS[404], address


def test_the_pages_are_found() -> None:
    kinds = {one.kind for one in pages() if one.model}
    assert kinds == {
        "changelist",
        "add",
        "change",
        "delete",
        "history",
        "object",
        "act",
        "password_change",
        "password_link",
        "search",
        "import",
    }
    assert len(pages()) > 100
    assert {one.name for one in pages() if one.model is None} == set(OF_THE_SITE)
