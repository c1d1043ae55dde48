"""Benchmarks of the ingest process: files read per second, and the time to first token while it is busy."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

import aiohttp
import psutil

from bench.documents import mixed_files
from bench.load import BrokenRunError, System, connect
from bench.scenarios import Figures, UpstreamLog, measure_first_token
from bench.stack import used_cpu_s

FILES = 100
# Enough to keep the next file ready for every process of the pool.
AT_ONCE = 8
PROBES = 40
SAMPLE_S = 0.05
MEGABYTE = 1024 * 1024


@dataclass
class Uploads:
    """Uploads of one user, and their outcomes. ended: ids, by status."""

    system: System
    socket: aiohttp.ClientWebSocketResponse
    ended: dict[str, list[str]] = field(default_factory=lambda: {"ready": [], "failed": []})
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    @contextlib.asynccontextmanager
    async def listening(cls, system: System) -> AsyncIterator["Uploads"]:
        address = f"ws://{system.address}/ws/"
        async with await connect(system.http, address, Authorization=f"Token {system.token}") as socket:
            uploads = cls(system, socket)
            listening = asyncio.create_task(uploads._listen())
            try:
                yield uploads
            finally:
                listening.cancel()
                await uploads._delete_all()

    async def read_all(self, files: Iterator[tuple[str, bytes]]) -> None:
        """Upload the files, AT_ONCE at a time, each after another has been read. Raises BrokenRunError."""

        async def one_after_another() -> None:
            for name, content in files:
                await self._read(name, content)

        await asyncio.gather(*(one_after_another() for _ in range(AT_ONCE)))
        if self.ended["failed"]:
            raise BrokenRunError(f"{len(self.ended['failed'])} files failed")

    async def _read(self, name: str, content: bytes) -> None:
        form = aiohttp.FormData()
        form.add_field("file", content, filename=name)
        async with self.system.http.post(self._url(), data=form, headers=self._headers) as reply:
            reply.raise_for_status()
            pk = str((await reply.json())["id"])
        while not any(pk in ended for ended in self.ended.values()):
            self._changed.clear()
            await self._changed.wait()

    async def _listen(self) -> None:
        async for message in self.socket:
            for line in message.data.split("\n"):
                frame = json.loads(line)
                if frame["type"] == "file" and frame["status"] in self.ended:
                    self.ended[frame["status"]].append(frame["id"])
            self._changed.set()

    async def _delete_all(self) -> None:
        for pk in [*self.ended["ready"], *self.ended["failed"]]:
            async with self.system.http.delete(self._url(f"{pk}/"), headers=self._headers) as reply:
                reply.raise_for_status()

    def _url(self, path: str = "") -> str:
        return f"http://{self.system.address}/api/files/{path}"

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Token {self.system.token}"}


async def measure_ingest(system: System) -> Figures:
    """Measure files per second, processor time and memory of the ingest processes, for 100 mixed files of 1 MB."""
    group = system.uncounted["ingest"]
    files = mixed_files()
    peaks = [_resident_bytes(group)]
    async with Uploads.listening(system) as uploads:
        sampling = asyncio.create_task(_sample_memory(group, peaks))
        used_s, began = used_cpu_s(group), time.monotonic()
        await uploads.read_all(islice(cycle(files), FILES))
        took_s, used_s = time.monotonic() - began, used_cpu_s(group) - used_s
        sampling.cancel()
    return {
        "files_per_s": FILES / took_s,
        "cpu_ms_per_file": used_s * 1000 / FILES,
        "memory_idle_mb": peaks[0] / MEGABYTE,
        "memory_peak_mb": max(peaks) / MEGABYTE,
    }


async def measure_first_token_beside(system: System, upstream: UpstreamLog) -> Figures:
    """Measure the time to first token alone and while files are read without a pause, in milliseconds from send.

    The time from `accepted` is not used: it is so short that the ratio would be noise.
    """
    mixed_files()  # created before the measurement
    alone = await measure_first_token(system, upstream, 0, PROBES)
    async with Uploads.listening(system) as uploads:
        reading = asyncio.create_task(uploads.read_all(cycle(mixed_files())))
        while len(uploads.ended["ready"]) < AT_ONCE:
            await asyncio.sleep(SAMPLE_S)
            if reading.done():
                await reading
        beside = await measure_first_token(system, upstream, 0, PROBES)
        read = len(uploads.ended["ready"])
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    return {
        **{f"alone_{name}": value for name, value in alone.items()},
        **beside,
        "ratio": beside["from_send_p50"] / alone["from_send_p50"],
        "files": float(read),
    }


async def _sample_memory(group: Sequence[psutil.Process], peaks: list[int]) -> None:
    while True:
        peaks.append(_resident_bytes(group))
        await asyncio.sleep(SAMPLE_S)


def _resident_bytes(group: Sequence[psutil.Process]) -> int:
    """Return the memory of the processes and all their children; pages that they share count for each."""
    total = 0
    for process in group:
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                total += one.memory_info().rss
    return total
