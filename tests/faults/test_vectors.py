"""Every chunk gets its vector, once, whatever is killed while a file is stored and its vectors are computed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import psutil
import pytest

from chat.infrastructure.fault_points import Point
from tests.faults.chunk_counts import count_chunks
from tests.faults.cluster import Cluster, until
from tests.faults.uploader import Uploader

pytestmark = [pytest.mark.fault, pytest.mark.timeout(900)]

POINTS: tuple[Point, ...] = (
    "after_chunk_batch",
    "after_chunks_stored",
    "after_file_end",
    "after_vectors_claim",
    "before_vectors_stored",
    "after_vectors_stored",
)
# Chunks of more than one transaction, all different.
TEXT = "\n\n".join(
    f"## Tide {number}\n\n" + f"Low water {number} comes twice. " * 48 for number in range(250)
)
READ_AGAIN = """
    UPDATE knowledge_file SET status = 'processing', ended_at = NULL, announced_at = NULL, has_stale_chunks = true,
        queued_at = now() - interval '1 hour' WHERE id = %s
"""
FOUND = """
    SELECT count(*) FROM knowledge_chunk AS chunk JOIN knowledge_file AS file
    ON file.id = chunk.file_id AND file.chunks_version = chunk.version WHERE file.id = %s
"""


# Chunks, and those that have a vector of one model.
OF_MODEL = """
    SELECT count(*), count(of.vector) FROM knowledge_chunk AS chunk LEFT JOIN knowledge_chunkvector AS of
    ON of.chunk_id = chunk.id AND of.model_id = (SELECT id FROM knowledge_embeddingmodel WHERE name = %s)
"""


@pytest.fixture(autouse=True)
def no_workers(without_workers: None) -> None:
    pass


@pytest.fixture
async def embedding(cluster: Cluster) -> AsyncIterator[dict[str, str]]:
    """The environment of processes that compute vectors. The sweeper is one of them."""
    environment = {"EMBEDDINGS_BASE_URL": cluster.upstream.base_url, "EMBEDDINGS_MODEL": "sea"}
    cluster.kill("sweeper")
    cluster.stack.start("sweeper", "sweeper", environment)
    yield environment
    cluster.kill("sweeper")
    print(cluster.logs())


@pytest.mark.parametrize("point", POINTS)
async def test_a_process_killed_at_any_point_leaves_each_chunk_with_one_vector(
    cluster: Cluster, embedding: dict[str, str], point: Point
) -> None:
    broken = {"FAULT_POINTS": f"{point}=kill", "INGEST_CONCURRENCY": "1"}
    cluster.stack.start("ingest", "ingest.broken", embedding | broken)
    [first] = await until(lambda: psutil.Process(cluster.stack.processes["ingest.broken"].pid).children())
    async with Uploader.logged_in(cluster, sockets=1) as uploader:
        project = (await uploader.ask("POST", "projects/", json={"name": "Tides"})).json()["id"]
        pk = await upload(uploader, project)
        await until(lambda: not first.is_running() or first.status() == psutil.STATUS_ZOMBIE)
        cluster.kill_for_good("ingest.broken")
        cluster.stack.start("ingest", "ingest", embedding)
        assert (await uploader.ended(pk))["status"] == "ready"
        await until(lambda: count_chunks(cluster, pk).are_complete)
        other = await upload(uploader, project)
        await uploader.ended(other)
        await until(lambda: count_chunks(cluster, pk, other).are_complete)
    assert count_chunks(cluster, pk, other).are_complete
    asked = Counter(cluster.upstream.embeddings.texts)
    # What a killed process had computed may be computed again; an equal text is not.
    assert max(asked.values()) <= 2
    await uploader.ask("DELETE", f"files/{pk}/")
    await uploader.ask("DELETE", f"files/{other}/")


@pytest.mark.parametrize("point", ["after_chunk_batch", "after_chunks_stored", "after_file_end"])
async def test_a_process_killed_while_a_file_is_read_again_leaves_each_chunk_found_at_any_time(
    cluster: Cluster, embedding: dict[str, str], point: Point
) -> None:
    cluster.stack.start("ingest", "ingest.first", embedding)
    async with Uploader.logged_in(cluster, sockets=1) as uploader:
        project = (await uploader.ask("POST", "projects/", json={"name": "Tides"})).json()["id"]
        pk = await upload(uploader, project)
        await uploader.ended(pk)
        await until(lambda: count_chunks(cluster, pk).are_complete)
        cluster.kill("ingest.first")
        whole, asked = cluster.rows(FOUND, pk), len(cluster.upstream.embeddings.texts)
        broken = {"FAULT_POINTS": f"{point}=kill", "INGEST_CONCURRENCY": "1"}
        cluster.stack.start("ingest", "ingest.broken", embedding | broken)
        [first] = await until(lambda: psutil.Process(cluster.stack.processes["ingest.broken"].pid).children())
        cluster.rows(READ_AGAIN + "RETURNING id", pk)
        while first.is_running() and first.status() != psutil.STATUS_ZOMBIE:
            assert cluster.rows(FOUND, pk) == whole
            await asyncio.sleep(0.02)
        cluster.kill_for_good("ingest.broken")
        cluster.stack.start("ingest", "ingest", embedding)
        while cluster.rows("SELECT status FROM knowledge_file WHERE id = %s", pk) != [("ready",)]:
            assert cluster.rows(FOUND, pk) == whole
            await asyncio.sleep(0.02)
        await until(lambda: count_chunks(cluster, pk).are_complete)
        assert cluster.rows(FOUND, pk) == whole
        assert len(cluster.upstream.embeddings.texts) == asked
        await uploader.ask("DELETE", f"files/{pk}/")


@pytest.mark.parametrize("point", ["after_vectors_claim", "before_vectors_stored", "after_vectors_stored"])
async def test_a_process_killed_while_the_model_changes_leaves_the_former_one_serving_until_the_new_one_is_complete(
    cluster: Cluster, embedding: dict[str, str], point: Point
) -> None:
    cluster.stack.start("ingest", "ingest.first", embedding)
    async with Uploader.logged_in(cluster, sockets=1) as uploader:
        project = (await uploader.ask("POST", "projects/", json={"name": "Tides"})).json()["id"]
        pk = await upload(uploader, project)
        await uploader.ended(pk)
        await until(lambda: serving(cluster) == "sea" and count_chunks(cluster, pk).are_complete)
        cluster.kill("ingest.first")
        cluster.kill("sweeper")
        changed = embedding | {"EMBEDDINGS_MODEL": f"ocean {point}"}
        broken = {"FAULT_POINTS": f"{point}=kill", "INGEST_CONCURRENCY": "1"}
        cluster.stack.start("ingest", "ingest.broken", changed | broken)
        [first] = await until(lambda: psutil.Process(cluster.stack.processes["ingest.broken"].pid).children())
        cluster.stack.start("sweeper", "sweeper", changed)
        await until(lambda: not first.is_running() or first.status() == psutil.STATUS_ZOMBIE)
        cluster.kill_for_good("ingest.broken")
        assert serving(cluster) == "sea"
        cluster.stack.start("ingest", "ingest", changed)
        await until(lambda: serving(cluster) == changed["EMBEDDINGS_MODEL"])
        [(chunks, vectors)] = cluster.rows(OF_MODEL, changed["EMBEDDINGS_MODEL"])
        assert chunks == vectors > 0
        await uploader.ask("DELETE", f"files/{pk}/")
    cluster.rows("UPDATE knowledge_embeddingmodel SET completed_at = NULL WHERE name <> 'sea' RETURNING id")


def serving(cluster: Cluster) -> str:
    rows = cluster.rows(
        "SELECT name FROM knowledge_embeddingmodel WHERE completed_at IS NOT NULL ORDER BY completed_at DESC LIMIT 1"
    )
    return str(rows[0][0]) if rows else ""


async def upload(uploader: Uploader, project: str) -> str:
    files = {"file": ("tides.txt", TEXT.encode())}
    answer = await uploader.ask("POST", "files/", files=files, data={"project": project})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])
