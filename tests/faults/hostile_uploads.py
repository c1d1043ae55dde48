"""Uploads hostile files to a running cluster and measures each; a chat beside them asks and is answered meanwhile.

All files: `.venv/bin/python -m tests.faults.hostile_uploads [--seed N] [--families pdfs mails]` prints the figures of docs/hostile-files.md.
"""

import argparse
import asyncio
import contextlib
import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx2
import psutil

from chat.protocol.errors import FILE_ERRORS
from tests.e2e.client import Client
from tests.faults.cluster import Cluster
from tests.faults.uploader import Uploader
from tests.ingest.hostile import FAMILIES, SEED, HostileFile, hostile_files

AT_ONCE: Final = 4
POLL_S: Final = 0.01
MEGABYTE: Final = 1024 * 1024
# How uploads are refused.
REFUSALS: Final = {"file_empty", "file_type_mismatch"}
KNOWN_CODES: Final = {"ready", *REFUSALS, *FILE_ERRORS} - {"file_unreadable", "file_missing"}


@dataclass
class Ending:
    """How a file ended. seconds, peak_bytes: of its reader; 0 if it was refused."""

    label: str
    code: str
    pk: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0


@dataclass
class Readings:
    """What was observed of the child processes, by the digest of what they read. ingest: the process above them."""

    ingest: psutil.Process
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    peak_bytes: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def watch(self) -> None:
        running: dict[int, tuple[str, float]] = {}
        while True:
            now = time.monotonic()
            alive = dict(readers(self.ingest))
            for pid, folder in alive.items():
                if pid not in running and (digest := _digest(folder)):
                    running[pid] = digest, now
                if pid in running:
                    digest, began = running[pid]
                    self.seconds[digest] = max(self.seconds[digest], now - began)
                    self.peak_bytes[digest] = max(self.peak_bytes[digest], _peak_bytes(pid))
            for pid in running.keys() - alive.keys():
                del running[pid]
            await asyncio.sleep(POLL_S)


@dataclass
class Beside:
    """A chat that goes on meanwhile. answers_s: from each question to the end of its answer."""

    client: Client
    answers_s: list[float] = field(default_factory=list)

    async def talk(self) -> None:
        session = await self.client.new_session()
        async with self.client.socket() as socket:
            await socket.subscribe(session["id"])
            while True:
                began = time.monotonic()
                turn = await self.client.ask(session, "Are you there?", models=["alpha"])
                view = await socket.ended(turn["runs"][0]["id"])
                assert view.stop_reason == "finished"
                await socket.until(lambda turn=turn: turn["turn"] in socket.stopped_turns, "overall_stop")
                self.answers_s.append(time.monotonic() - began)
                await asyncio.sleep(0.2)


class Attack:
    """To be made when the ingest process runs."""

    def __init__(self, cluster: Cluster, uploader: Uploader) -> None:
        self.cluster = cluster
        self.uploader = uploader
        self.readings = Readings(psutil.Process(cluster.stack.processes["ingest"].pid))
        self.answers_s: list[float] = []
        self.endings: list[Ending] = []

    async def run(self, files: Sequence[HostileFile]) -> list[Ending]:
        async with (
            Client.login(self.cluster.stack.base_url, "bob", "bob") as bob,
            # Each file has a connection of its own: the server may be closing one that was idle.
            httpx2.AsyncClient(
                trust_env=False,
                timeout=120,
                headers=self.uploader.headers,
                limits=httpx2.Limits(max_keepalive_connections=0),
            ) as http,
        ):
            beside = Beside(bob, self.answers_s)
            others = [asyncio.create_task(self.readings.watch()), asyncio.create_task(beside.talk())]
            waiting = iter(files)
            await asyncio.gather(*(self._send_all(http, waiting) for _ in range(AT_ONCE)))
            for task in others:
                assert not task.done(), task.exception()
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        return self.endings

    async def _send_all(self, http: httpx2.AsyncClient, files: Iterator[HostileFile]) -> None:
        for file in files:
            self.endings.append(await self._send(http, file))

    async def _send(self, http: httpx2.AsyncClient, file: HostileFile) -> Ending:
        content = await asyncio.to_thread(file.content)
        address = f"{self.uploader.base_url}/api/files/"
        sent = await http.post(address, files={"file": (file.name, content)})
        answer = sent.json()
        if sent.status_code != 201:
            assert sent.status_code in (400, 413, 415), (file.label, sent.text)
            return Ending(file.label, answer["code"])
        end = await self.uploader.told(answer["id"])
        code = end["error"]["code"] if end["status"] == "failed" else "ready"
        digest = hashlib.sha256(content).hexdigest()
        return Ending(
            file.label, code, answer["id"], self.readings.seconds[digest], self.readings.peak_bytes[digest]
        )


def readers(ingest: psutil.Process) -> Iterator[tuple[int, Path]]:
    """(process id, folder) of the child processes that read files."""
    for process in ingest.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            command = process.cmdline()
            if "ingest.reader" in command:
                yield process.pid, Path(command[-1])


def _digest(folder: Path) -> str:
    with contextlib.suppress(OSError):
        return hashlib.sha256((folder / "content").read_bytes()).hexdigest()
    return ""


def _peak_bytes(pid: int) -> int:
    """The most memory the process has had; 0 if it has ended."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


# The command


def table(endings: Sequence[Ending]) -> Iterator[str]:
    yield "| family | files | seconds, median | most | memory, median | most | how they ended |"
    yield "|---|---|---|---|---|---|---|"
    for family in [*FAMILIES, ""]:
        own = [one for one in endings if one.label.startswith(f"{family}/" if family else "")]
        if own:
            yield f"| {' | '.join([family or '**all**', str(len(own)), *_figures(own), _codes(own)])} |"


def _figures(endings: Sequence[Ending]) -> list[str]:
    seconds = [one.seconds for one in endings if one.seconds] or [0.0]
    peaks = [one.peak_bytes / MEGABYTE for one in endings if one.peak_bytes] or [0.0]
    return [
        f"{median(seconds):.1f}", f"{max(seconds):.1f}", f"{median(peaks):.0f} MB", f"{max(peaks):.0f} MB",
    ]  # fmt: skip


def _codes(endings: Sequence[Ending]) -> str:
    counted = Counter(one.code for one in endings)
    return ", ".join(f"`{code}` {count}" for code, count in counted.most_common())


def worst(endings: Sequence[Ending], count: int = 10) -> Iterator[str]:
    yield "| slowest and largest | seconds | memory | code |"
    yield "|---|---|---|---|"
    slow = sorted(endings, key=lambda one: -one.seconds)[:count]
    large = sorted(endings, key=lambda one: -one.peak_bytes)[:count]
    for one in {one.label: one for one in (*slow, *large)}.values():
        yield f"| {one.label} | {one.seconds:.1f} | {one.peak_bytes / MEGABYTE:.0f} MB | `{one.code}` |"


async def main(arguments: argparse.Namespace) -> None:
    files = [one for one in hostile_files(arguments.seed) if one.family in arguments.families]
    with Cluster.running(MAX_STORED_BYTES_PER_USER="100000000000") as cluster:
        cluster.stack.start("ingest")
        async with Uploader.logged_in(cluster) as uploader:
            attack = Attack(cluster, uploader)
            began = time.monotonic()
            endings = await attack.run(files)
            took_s = time.monotonic() - began
    answers = attack.answers_s
    lines = [*table(endings), "", *worst(endings), ""]
    summary = (
        f"seed {arguments.seed}, {len(files)} files in {took_s:.0f} s; beside them {len(answers)} answers, "
    )
    lines.append(f"{summary}median {median(answers):.2f} s, slowest {max(answers):.2f} s")
    lines += [f"unexpected: {one}" for one in endings if one.code not in KNOWN_CODES]
    if arguments.every:
        lines += [
            f"{one.label}: {one.code} {one.seconds:.1f} s {one.peak_bytes / MEGABYTE:.0f} MB"
            for one in endings
        ]
    print("\n".join(lines))


def parse_arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.hostile_uploads", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--families", nargs="+", choices=[*FAMILIES], default=[*FAMILIES])
    parser.add_argument("--every", action="store_true", help="also print each file")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(parse_arguments()))
