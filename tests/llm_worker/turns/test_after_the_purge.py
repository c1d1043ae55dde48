"""When the kept requests are purged, staff still see with which prompt and tools a run was answered."""

import re

from django.test import Client
from django.urls import reverse

from chat.models import SentRequest
from chat.protocol.states import Status
from tests import factories
from tests.llm_worker.outcomes import ended

QUESTION = "Why are there two tides?"


def test_staff_see_prompt_and_tools_after_the_requests_are_purged(ask, deliver, upstream, agent_session):
    session = agent_session(prompt="Name the Moon.", tools=["current_time"])
    upstream.reply({"text": "Because."})
    [run] = ask(QUESTION, session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    tools = upstream.requests[0].body["tools"]
    SentRequest.objects.all().delete()
    session.agent.change(prompt="Name the Sun.", tools=[])
    staff = Client()
    staff.force_login(factories.create_user("bob", is_staff=True, is_superuser=True))
    run_page = staff.get(reverse("admin:chat_run_change", args=[run.pk])).content.decode()
    assert "Name the Moon." in run_page
    assert "Name the Sun." in run_page, "both, since they differ"
    link = re.search(r'href="(/admin/chat/promptversion/[^"]+)"', run_page)
    assert link
    version_page = staff.get(link[1]).content.decode()
    assert "Name the Moon." in version_page
    assert tools[0]["function"]["description"][:40] in version_page
