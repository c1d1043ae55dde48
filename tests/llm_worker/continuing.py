"""An answer that is cut at the output limit, and the request to go on with it."""

import pytest

from chat.log.stream import read_now, run_log
from chat.models import Run
from chat.protocol.states import Status
from chat.protocol.wire import decode_log_entry
from tests import factories

MODELS = pytest.mark.parametrize("model", ["plain", "prefilling"])
CUT = ({"finish": "length"}, {"usage": {"prompt_tokens": 10, "completion_tokens": 3}})
WHOLE = ({"usage": {"prompt_tokens": 20, "completion_tokens": 4}},)


def fresh(run):
    return Run.objects.for_work().get(pk=run.pk)


def go_on(run, status=202):
    client = factories.api_client(run.turn.session.owner)
    response = client.post(f"/api/runs/{run.pk}/continuation/", {}, format="json")
    assert response.status_code == status, response.json()
    return response.json()


def answer_of(run):
    """The message as a page that is loaded now reads it."""
    client = factories.api_client(run.turn.session.owner)
    return client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()[-1]


def entries(run):
    lines = read_now(run_log(run.turn.session_id, run.pk)).lines
    return [decode_log_entry(line) for _, line in lines]


def continue_and_lose_the_worker(run, deliver, upstream):
    """Let the answer `The Moon pu` go on; its worker is lost after `lls `, and the next one writes to the end."""
    upstream.reply({"text": "lls "}, {"hang": True}, times=1)
    upstream.reply({"text": "twice."})
    go_on(run)
    lost = deliver(run)
    upstream.wait_for(lambda: fresh(run).message.text == "The Moon pulls ")
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED, owner=None, lease_until=None)
    assert lost.result(60) is True
    assert deliver(run).result(60) is True
