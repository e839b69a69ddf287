"""The server: loopback, a port that the system chooses, a thread for each connection, none of them left at the end.

with model_server() as server:
    … ANTHROPIC_BASE_URL=server.url("clean") …
    assert len(server.asked("clean")) == 1
"""

import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from burnish.testing.model_server.model import HttpRequest, Model, RecordedRequest, RequestLog, Response
from burnish.testing.model_server.scenario import Fault, ModelScript, Scenario, ScenarioError, faults, ready_made

_NOTICES_ITS_END = 0.02
"""Seconds at most that closing waits for the thread that accepts connections."""


class ModelServer:
    def __init__(self, port: int, model: Model, recorder: RequestLog) -> None:
        self._model = model
        self._recorder = recorder
        self.address = f"http://127.0.0.1:{port}"

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(self._model.scenarios)

    def url(self, scenario: str) -> str:
        """The base address of a service that plays a scenario. Clients of OpenAI's formats want `/v1` after it."""
        return f"{self.address}/{scenario}"

    def asked(self, scenario: str = "") -> tuple[RecordedRequest, ...]:
        """What was asked so far, in order; of one scenario, where one is named."""
        return tuple(one for one in self._recorder.asked() if scenario in ("", one.scenario))

    def wait_for(self, count: int, *, seconds: float = 60.0) -> bool:
        """Wait until so many requests came in. Returns whether they did in time."""
        return self._recorder.wait_for(count, seconds)


@contextmanager
def model_server(
    scenarios: Mapping[str, Scenario] | None = None, *, log: Path | None = None
) -> Generator[ModelServer, None, None]:
    """Serve these scenarios, and the ready-made ones whose names are still free. `log` gets a line for each request."""
    script = ModelScript(scenario=dict(scenarios or {}))
    for fault in faults(script):
        raise ScenarioError(f"{'.'.join(map(str, fault.path))}: {fault.message}", hint=fault.hint)
    recorder = RequestLog(log)
    model = Model({**ready_made(), **script.scenario}, recorder)
    server = _Server(model)
    thread = threading.Thread(target=server.serve_forever, args=(_NOTICES_ITS_END,), name="model-server")
    thread.start()
    try:
        yield ModelServer(server.server_address[1], model, recorder)
    finally:
        server.stop()
        thread.join()


class _Server(ThreadingHTTPServer):
    """Knows its connections, so that it can end those that hang."""

    daemon_threads = False  # so that closing waits for every thread
    request_queue_size = 128

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    def stop(self) -> None:
        self.stopping.set()
        self.shutdown()
        with self._guard:
            for connection in self._open:
                with suppress(OSError):  # its client may be gone
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    """One connection: reads requests and sends what the model responds."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._respond()

    def do_HEAD(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def handle(self) -> None:
        with suppress(ConnectionError):  # clients go away in the middle; that is what tests make them do
            super().handle()

    def finish(self) -> None:
        with suppress(ConnectionError):
            super().finish()

    def log_message(self, *_: object, **__: object) -> None:
        """Requests are recorded, not printed."""

    def _respond(self) -> None:
        length = self.headers.get("content-length") or ""
        request = HttpRequest(
            method=self.command,
            target=self.path,
            headers=tuple(self.headers.items()),
            body=self.rfile.read(int(length) if length.isdecimal() else 0),
        )
        server = cast("_Server", self.server)
        response = server.model.respond(request)
        if response.pieces or response.fault is not Fault.HANG:
            self._send_head(response)
            self._send_pieces(response, server.stopping)
        if response.fault is Fault.HANG:
            while self.rfile.read(1):  # returns nothing once the connection is closed, from whichever side
                pass
        if response.fault in (Fault.HANG, Fault.CUT):
            self.close_connection = True
        elif response.stream:
            self.wfile.write(b"0\r\n\r\n")

    def _send_head(self, response: Response) -> None:
        self.send_response(response.status)
        if response.retry_after is not None:
            self.send_header("Retry-After", f"{response.retry_after:g}")
        if response.stream:
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
        else:
            # Of an answer that breaks off, more is promised than comes.
            missing = 1 if response.fault in (Fault.HANG, Fault.CUT) else 0
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(sum(map(len, response.pieces)) + missing))
        self.end_headers()

    def _send_pieces(self, response: Response, stopping: threading.Event) -> None:
        for piece in response.pieces:
            if response.pause and stopping.wait(response.pause):
                raise ConnectionAbortedError
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if response.stream else piece)
