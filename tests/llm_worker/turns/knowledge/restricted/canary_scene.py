"""Canaries in what a knowledge base holds, replies of secondary models, and where alice could meet a canary."""

import json
from collections.abc import Iterable
from typing import Any

from chat.models import Run, ToolCall
from tests.canaries import Leaks, is_secondary

# The number has as many digits as no part of an id and no fraction of a second has by chance.
CANARIES = ["zebratitle", "zebratext", "zebrasummary", "zebratopic", "48151623"]
TEXT = (
    "The zebratext deliveries of the northern depot were late in most weeks of the spring, which cost 48151623 euros, "
    "since nobody had told the carriers that the gate closes early."
)
# An artifact that repeats nothing.
SAFE = {
    "decision": "answer",
    "reason": "The excerpts cover it.",
    "summary": "Carriers arrived too late because they did not know the opening hours.",
    "observations": ["It happened often."],
    "risks": [],
    "recommended_actions": ["Tell them."],
    "answer_guidance": "Be brief.",
    "confidence": "high",
}


def says(upstream: Any, *steps: Any, times: int | None = 1) -> None:
    """What the secondary model answers next."""
    upstream.reply(*(steps or ({"text": json.dumps(SAFE)},)), stream=False, times=times)


def secondary(upstream: Any) -> list[Any]:
    """The requests to the secondary model."""
    return [received for received in upstream.asides if is_secondary(received)]


def stored(run: Run) -> dict[str, Any]:
    """The response of the run's only call."""
    [row] = ToolCall.objects.filter(run=run)
    assert (row.status, row.documents) == ("completed", [])
    return dict(json.loads(row.response))


def find_leaks(leaks: Leaks, client: Any, admins: Any, runs: Iterable[Run]) -> list[str]:
    """In frames, in what alice reads of these runs and their bases, in the admin, in rows and in Redis."""
    paths = [path for run in runs for path in (*paths_of(client, run), *paths_of_bases(run.knowledge_bases))]
    return [
        *leaks.in_frames(),
        *leaks.in_answers(client, paths),
        *leaks.in_admin(admins),
        *leaks.in_tables(),
        *leaks.in_redis(),
    ]


def paths_of_bases(bases: Iterable[Any]) -> list[str]:
    parts = ("", "documents/", "members/", "search/?q=deliveries")
    return [
        "/api/knowledge-bases/",
        *(f"/api/knowledge-bases/{base}/{part}" for base in bases for part in parts),
    ]


def paths_of(client: Any, run: Run) -> list[str]:
    """Everything that alice reads of the run and its session."""
    session = f"/api/sessions/{run.turn.session_id}"
    body = {"leaf": str(run.message_id), "shows_details": True}
    link = client.post(f"{session}/shares/", body, format="json").json()["url"]
    return [
        "/api/sessions/",
        "/api/sessions/?search=deliveries",
        f"{session}/",
        f"{session}/messages/",
        f"{session}/tree/",
        f"{session}/compression/",
        *(f"{session}/export/?as={kind}" for kind in ("json", "markdown", "zip")),
        link,
        f"/api{link}/",
        f"{session}/shares/",
        f"/api/runs/{run.pk}/",
        f"/api/runs/{run.pk}/packets/",
        "/api/files/",
        "/api/agents/",
        "/api/usage/",
    ]
