"""The admin of knowledge bases: members, changes, documents, the box to try a search; contents need a permission of their own."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import translation

from knowledge.models import File, KnowledgeBase, MembershipChange
from tests import factories
from tests.indexed import add_indexed
from web.admin.read_only import admin_url

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "The spring tide follows the full moon."
# What the base holds, as opposed to its name and the hints that restricted members see.
CONTENTS = ("Spring tides of Brest", "Harbour soundings", "gauges", TEXT)
READS_CONTENTS = "view_knowledge_base_contents"


@pytest.fixture
def base(transactional_db: None) -> KnowledgeBase:
    """Of alice, with a reader, a change of its members and two documents."""
    alice, carol = factories.create_user("alice"), factories.create_user("carol")
    base = KnowledgeBase.objects.start(
        alice,
        name="Sea",
        summary="Harbour soundings",
        topics=["gauges"],
        routing_hint="Ask about tides.",
    )
    base.members.create(user=carol, role="reader")
    MembershipChange.objects.create(
        knowledge_base=base.pk, name=base.name, actor="alice", user="carol", after="reader"
    )
    add_indexed(base, "Spring tides of Brest", TEXT)
    add_indexed(base, "Dunes", "Sand moves with the wind.")
    return base


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def read(client: Client, address: str, **parameters: Any) -> str:
    with translation.override("en"):
        response = client.get(address, parameters)
    assert response.status_code == 200
    return response.content.decode()


def search_address(base: KnowledgeBase) -> str:
    return reverse("admin:knowledge_knowledgebase_search", args=[base.pk])


def test_the_page_shows_members_who_changed_them_and_documents(staff: Client, base: KnowledgeBase) -> None:
    shown = read(staff, admin_url(base))
    for expected in (
        "alice",
        "carol",
        "reader",
        "by alice",
        "Spring tides of Brest",
        "Dunes",
        "Ask about tides.",
    ):
        assert expected in shown
    for document in base.documents.all():
        assert admin_url(document) in shown


def test_the_list_has_the_numbers_of_documents_and_members(staff: Client, base: KnowledgeBase) -> None:
    address = reverse("admin:knowledge_knowledgebase_changelist")
    [row] = staff.get(address).context["cl"].result_list
    assert (row.document_count, row.member_count) == (2, 2)


def test_staff_without_the_permission_see_nothing_that_a_base_holds(base: KnowledgeBase) -> None:
    document = base.documents.get(name="Spring tides of Brest")
    views = ("view_knowledgebase", "view_file", "view_file_text", "view_membershipchange", "view_project")
    watching = factories.staff_client(*views)
    lookup = reverse("admin:lookup") + f"?q={document.pk}"
    pages = [
        admin_url(base),
        *(
            reverse(f"admin:knowledge_{name}_changelist")
            for name in ("knowledgebase", "file", "membershipchange")
        ),
        reverse("admin:knowledge_file_changelist") + "?q=Spring",
        reverse("admin:knowledge_file_changelist") + f"?q={base.pk}",
        lookup,
    ]
    for address in pages:
        shown = read(watching, address)
        assert [canary for canary in CONTENTS if canary in shown] == [], address
    assert watching.get(admin_url(document)).status_code in (302, 404)
    assert watching.get(search_address(base), {"q": "tide"}).status_code == 403
    with_permission = factories.staff_client(*views, READS_CONTENTS, name="dora")
    assert "Spring tides of Brest" in read(with_permission, admin_url(base))
    assert with_permission.get(admin_url(document)).status_code == 200


def test_a_tried_search_shows_each_ranking_and_is_logged(staff: Client, base: KnowledgeBase) -> None:
    shown = read(staff, search_address(base), q="spring tide")
    assert TEXT in shown
    for name in ("Fused", "By words", "By vectors"):
        assert f">{name}</h2>" in shown
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.get_change_message()) == (str(base.pk), "Search tried: 11 characters")


def test_a_tried_search_finds_nothing_of_another_base(staff: Client, base: KnowledgeBase) -> None:
    other = KnowledgeBase.objects.start(base.owner, name="Other")
    add_indexed(other, "Elsewhere", TEXT)
    assert "Elsewhere" not in read(staff, search_address(base), q="spring tide")
    assert "Spring tides of Brest" not in read(staff, search_address(other), q="spring tide")


def test_hostile_queries_are_searched_for_as_words(staff: Client, base: KnowledgeBase) -> None:
    for query in ("\x00", "' OR 1=1 --", "<script>alert(1)</script>", "a" * 5_000, "%s %(scope0)s", "&|!:*"):
        assert "<script>alert" not in read(staff, search_address(base), q=query)


def test_a_document_leads_to_its_base_and_the_id_of_either_finds_it(
    staff: Client, base: KnowledgeBase
) -> None:
    document = base.documents.get(name="Dunes")
    assert admin_url(base) in read(staff, admin_url(document))
    files = reverse("admin:knowledge_file_changelist")
    assert {row.name for row in staff.get(files, {"q": base.pk}).context["cl"].result_list} == {
        "Dunes",
        "Spring tides of Brest",
    }
    bases = reverse("admin:knowledge_knowledgebase_changelist")
    assert [row.pk for row in staff.get(bases, {"q": document.pk}).context["cl"].result_list] == [base.pk]
    assert staff.get(reverse("admin:lookup"), {"q": base.pk}).headers["Location"] == admin_url(base)


def test_changes_of_members_are_found_by_the_id_of_a_deleted_base(staff: Client, base: KnowledgeBase) -> None:
    pk = base.pk
    base.delete()
    assert not File.objects.exists()
    changes = reverse("admin:knowledge_membershipchange_changelist")
    [change] = staff.get(changes, {"q": pk}).context["cl"].result_list
    assert (change.name, change.user, change.after, change.actor) == ("Sea", "carol", "reader", "alice")


def test_the_pages_are_german(staff: Client, base: KnowledgeBase) -> None:
    with translation.override("de"):
        shown = staff.get(admin_url(base), headers={"Accept-Language": "de"}).content.decode()
    assert "Mitglieder" in shown
    assert "Suche ausprobieren" in shown
