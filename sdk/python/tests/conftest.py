"""The tests run against a live Hub with demo data: `.ci/live-verification.sh` starts it and sets HUB_URL and the account."""

import time
from collections.abc import Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from org_memory_hub import Hub
from org_memory_hub.settings import settings_from_environment


@pytest.fixture(scope="session")
def account() -> dict[str, Any]:
    return settings_from_environment()


@pytest.fixture(scope="session")
def hub(account: dict[str, Any]) -> Iterator[Hub]:
    with Hub(**account) as hub:
        yield hub


@pytest.fixture(scope="session")
def event(hub: Hub) -> dict[str, Any]:
    """A valid event, with a skill of its own and an archetype and a user of the demo data."""
    skill_id = f"python-{time.time_ns()}"
    hub.records.write(
        {"record_type": "skill_definition", "skill_id": skill_id, "skill_version": "1.0.0", "name": "Python test"}
    )
    known = next(iter(hub.records.list(record_type="telemetry_event", limit=1)))
    return {
        "skill_id": skill_id,
        "skill_version": "1.0.0",
        "archetype_id": known["archetype_id"],
        "user_id": known["user_id"],
        "llm_platform": "claude",
        "ts": datetime.now(timezone.utc).isoformat(),
        "success": True,
        "latency_ms": 120,
        "tokens_in": 10,
        "tokens_out": 5,
        "cost_usd_estimate": 0.001,
    }


@pytest.fixture
def fields(event: dict[str, Any]) -> dict[str, Any]:
    """What every tracked event of a test has."""
    names = ("skill_id", "skill_version", "archetype_id", "user_id", "llm_platform")
    return {name: event[name] for name in names}


class ScriptedServer:
    """An HTTP server whose responses a test lists: what a proxy or a Hub in trouble may send."""

    def __init__(self) -> None:
        self.responses: list[tuple[int, dict[str, str], bytes]] = []
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                if self.path == "/api/v1/oauth/token":
                    status, sent, content = 200, {}, b'{"access_token":"token","expires_in":3600}'
                else:
                    scripted.requests.append((self.command, self.path, headers, body))
                    status, sent, content = scripted.responses.pop(0)
                self.send_response(status)
                for name, value in {"content-length": str(len(content)), **sent}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
                if "connection" in sent:
                    self.close_connection = True

            do_GET = do_POST

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.settings = {
            "base_url": f"http://127.0.0.1:{self._server.server_port}",
            "tenant": "acme",
            "client_id": "id",
            "client_secret": "secret",
        }
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.stop()
