"""A program that is told of answers: it stores each request, and answers with the status that its path names."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(ThreadingHTTPServer):
    """received: the requests, in their order.  gate: set, unless answers to paths below /wait/ are to wait for it."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.received: queue.Queue[Received] = queue.Queue()
        self.gate = threading.Event()
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.url = f"http://{self.host}"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.put(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if self.path.startswith("/wait/"):
            self.server.gate.wait(60)
        status = int(self.path.rpartition("/")[2] or 204)
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"{self.server.url}/redirected/204")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    with Receiver(port) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        try:
            yield receiver
        finally:
            receiver.gate.set()
            receiver.shutdown()
