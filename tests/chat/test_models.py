import pytest
from chat.models import *
from django.contrib.auth import get_user_model
@pytest.mark.django_db
def test_x():
    u = get_user_model().objects.create(username="alice")
    s = Session.objects.start(u)
    m = ChatMessage.objects.append(s.root, role="user", text="x")
    m2 = ChatMessage.objects.append(m, role="assistant", text="y")
    m.choose(); m2.choose()
    assert [x.text for x in ChatMessage.objects.branch_to(m2).select_related("run")] == ["", "x", "y"]
    assert [x.text for x in ChatMessage.objects.current_path_from(s.root)] == ["", "x", "y"]
    from django.db import connection
    connection.check_constraints()
