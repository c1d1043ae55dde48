"""Lists are filtered by no column that their pages do not show: whether rows are found would tell its value."""

import pytest
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("table", "lookup"),
    [
        ("knowledge_file", "text__startswith"),
        ("knowledge_file", "content_hash"),
        ("knowledge_project", "instructions__contains"),
        ("knowledge_knowledgebase", "summary__regex"),
        ("knowledge_knowledgebase", "topics__0__startswith"),
        ("chat_savedprompt", "text__startswith"),
        ("chat_share", "digest__startswith"),
        ("chat_invitation", "digest__startswith"),
        ("chat_provider", "encrypted_api_key__isnull"),
        ("chat_webhook", "encrypted_secret__startswith"),
        ("auth_user", "password__startswith"),
    ],
)
def test_a_list_is_not_filtered_by_what_its_pages_do_not_show(table: str, lookup: str) -> None:
    staff = factories.staff_client(f"view_{table.split('_')[1]}")
    address = reverse(f"admin:{table}_changelist")
    assert staff.get(address, {lookup: "1"}).status_code == 400
    assert staff.get(address).status_code == 200


def test_it_is_filtered_by_what_it_and_its_pages_show() -> None:
    staff = factories.staff_client("view_file", "view_user", "view_project", "view_project_instructions")
    for table, lookup in (
        ("knowledge_file", "status__exact"),
        ("knowledge_file", "size_bytes__gt"),
        ("auth_user", "groups__id__exact"),
        ("auth_user", "last_login__isnull"),
        ("knowledge_project", "instructions__contains"),
    ):
        assert staff.get(reverse(f"admin:{table}_changelist"), {lookup: "1"}).status_code == 200, lookup
