"""Files made to break their reader end within its limits, the pool goes on, and a chat beside them is answered.

A sample of tests/ingest/hostile, with as many of each family as its share; what is left out is printed. HOSTILE_FILES sets
how many, HOSTILE_SEED which. All of them: `python -m tests.faults.hostile_uploads`.
"""

import os
from collections.abc import AsyncIterator, Callable

import pytest

from tests.faults.cluster import Cluster
from tests.faults.hostile_uploads import KNOWN_CODES, Attack, readers
from tests.faults.uploader import Uploader
from tests.ingest.hostile import SEED, sample

pytestmark = [pytest.mark.fault, pytest.mark.timeout(900)]

FILES = int(os.environ.get("HOSTILE_FILES", "60"))
CHOSEN_BY = int(os.environ.get("HOSTILE_SEED", SEED))


@pytest.fixture
async def uploader(cluster: Cluster) -> AsyncIterator[Uploader]:
    async with Uploader.logged_in(cluster) as uploader:
        yield uploader
    print(cluster.logs())


async def test_hostile_files_end_within_their_limits_and_disturb_nobody(
    cluster: Cluster, uploader: Uploader, record_property: Callable[[str, object], None]
) -> None:
    chosen, left_out = sample(FILES, CHOSEN_BY)
    names = ", ".join(one.label for one in left_out)
    record_property(
        "sampled",
        f"{len(chosen)} of {len(chosen) + len(left_out)} hostile files, HOSTILE_SEED={CHOSEN_BY}; left out: {names}",
    )
    # Tests before this one, on the same cluster, kill processes of the pool.
    before = len(cluster.stack.log("ingest"))
    cluster.stack.start("ingest")
    attack = Attack(cluster, uploader)
    endings = await attack.run(chosen)
    assert [one for one in endings if one.code not in KNOWN_CODES] == []
    stored = [one for one in endings if one.pk]
    assert all([len(ends) for ends in uploader.ends(one.pk)] == [1, 1] for one in stored)
    assert max(one.peak_bytes for one in stored) < 1.5e9
    assert max(one.seconds for one in stored) < 90
    assert attack.answers_s, "the chat beside them was answered"
    end = await uploader.told(await uploader.upload("tides.txt", b"Two tides a day."))
    assert end["status"] == "ready"
    assert "WorkerLostError" not in cluster.stack.log("ingest")[before:], "no process of the pool died"
    assert [*readers(attack.readings.ingest)] == []
