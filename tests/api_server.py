"""ApiServer: a server of tides in a thread of the test, with the OpenAPI document that describes it."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FLOOD_BYTES = 50 * 1024 * 1024
_PORT = {"in": "path", "name": "port", "required": True, "schema": {"type": "string"}}
_HEIGHT = {
    "type": "object",
    "properties": {"height": {"type": "number"}, "before": {"$ref": "#/components/schemas/Tide"}},
    "required": ["height"],
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Tides", "version": "1"},
    "components": {"schemas": {"Tide": _HEIGHT}},
    "paths": {
        "/ports/{port}": {
            "get": {
                "operationId": "getPort",
                "summary": "Tells of a port.",
                "parameters": [_PORT, {"in": "query", "name": "days", "schema": {"type": "array"}}],
            },
        },
        "/tides": {
            "post": {
                "operationId": "addTide",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tide"}}},
                },
            }
        },
        "/broken": {"post": {"operationId": "breakOff"}, "get": {"operationId": "readBroken"}},
        **{f"/{name}": {"get": {"operationId": name}} for name in ("away", "flood", "missing", "nothing")},
    },
}


class ApiServer:
    """received: the calls, each as (method, path with query, headers in lower case, body).  document: what it serves, as JSON; readers: the headers of the requests for it."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []
        self.document = DOCUMENT
        self.readers: list[dict[str, str]] = []
        self.leads_to = ""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": self}))
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    api: ApiServer

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/openapi.json":
            self.api.readers.append(self._headers())
            self._answer(200, json.dumps(self.api.document).encode())
            return
        self._record(b"")
        answers: dict[str, Callable[[], None]] = {
            "/flood": self._flood,
            "/broken": self._break_off,
            "/away": lambda: self._answer(302, b"", Location=self.api.leads_to),
            "/missing": lambda: self._answer(404, b'{"detail": "There is no such port."}'),
            "/nothing": lambda: self._answer(204, b""),
        }
        told = json.dumps({"path": self.path}).encode()
        answers.get(self.path.partition("?")[0], lambda: self._answer(200, told))()

    def do_POST(self) -> None:
        self._record(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/broken":
            self._break_off()
        else:
            self._answer(201, b'{"added": true}')

    def _record(self, body: bytes) -> None:
        self.api.received.append((self.command, self.path, self._headers(), body))

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _break_off(self) -> None:
        self.close_connection = True

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        try:
            for _ in range(FLOOD_BYTES // 65_536):
                self.wfile.write(b"x" * 65_536)
        except OSError:
            return  # nobody reads on

    def log_message(self, *_: object) -> None:
        pass
