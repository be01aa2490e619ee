"""The shapes, the verifiers, and every example of the README."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import textwrap
import urllib.request
from pathlib import Path
from types import SimpleNamespace as Object
from typing import Any

import pytest

from org_memory_hub import Hub, shapes, verify_webhook

package = Path(__file__).parents[1]
checkout = package.parents[1]
decision_members = ("id", "subject", "outcome", "rationale", "actor_role")
openapi = json.loads((checkout / "tests/golden/openapi.json").read_text())


def schema_of(method: str, path: str, status: str) -> Any:
    return openapi["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        (shapes.TelemetryEvent, openapi["components"]["schemas"]["TelemetryEvent"]),
        (shapes.Verification, openapi["components"]["schemas"]["Verification"]),
        (shapes.ExportJob, openapi["components"]["schemas"]["Export"]),
        (shapes.Written, schema_of("post", "/api/v1/hub/records", "201")),
        (shapes.BatchResult, schema_of("post", "/api/v1/telemetry/events:batch", "201")),
        (shapes.Related, schema_of("get", "/api/v1/hub/records/{record_id}/related", "200")),
        (shapes.Summary, schema_of("get", "/api/v1/telemetry/summary", "200")),
        (shapes.SearchResult, schema_of("get", "/api/v1/hub/search", "200")["properties"]["results"]["items"]),
        (shapes.Suggestion, schema_of("get", "/api/v1/suggest", "200")["properties"]["items"]["items"]),
    ],
)
def test_shapes_are_those_of_the_api(shape: Any, schema: Any) -> None:
    # The Hub may add members to responses; events are checked against the shape before they are sent.
    assert set(shape.__annotations__) <= set(schema["properties"])
    assert shape.__required_keys__ <= set(schema["required"])


def test_every_member_of_an_event_can_be_tracked() -> None:
    assert set(shapes.TelemetryEvent.__annotations__) == set(openapi["components"]["schemas"]["TelemetryEvent"]["properties"])


def run_without_httpx(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    program = "import runpy, sys; sys.modules['httpx'] = None; sys.argv[0] = 'verify'; runpy.run_module('org_memory_hub.verify', run_name='__main__')"
    return subprocess.run([sys.executable, "-c", program, *arguments], cwd=package, capture_output=True, text=True)


def test_the_verifier_needs_no_httpx_and_finds_an_alteration(hub: Hub, tmp_path: Path) -> None:
    record = next(iter(hub.records.list(record_type="decision", limit=1)))
    bundle = hub.records.proof_bundle(record["record_id"])
    file = tmp_path / "bundle.json"
    file.write_text(json.dumps(bundle))
    assert run_without_httpx(["--bundle", str(file)]).returncode == 0
    alone = [sys.executable, package / "org_memory_hub/verify.py", "--bundle", file]
    assert subprocess.run(alone, capture_output=True).returncode == 0
    bundle["record"]["decision_outcome"] = "altered"
    file.write_text(json.dumps(bundle))
    assert run_without_httpx(["--bundle", str(file)]).returncode == 1


def test_webhooks_are_verified_by_the_public_name() -> None:
    vectors = json.loads((checkout / "sdk/webhooks/vectors.json").read_text())
    case = next(one for one in vectors["cases"] if one["refused"] is None and "body" in one)
    message = verify_webhook(case["body"].encode(), case["signature"], case["secrets"], now=vectors["now"])
    assert message == vectors["message"]


def examples() -> list[tuple[str, str]]:
    """Returns the Python blocks of the README, each with the heading above it."""
    blocks = []
    heading = ""
    for match in re.finditer(r"^## ([^\n]+)$|^```python\n(.*?)^```$", (package / "README.md").read_text(), re.M | re.S):
        heading = match[1] or heading
        if match[2]:
            blocks.append((heading, match[2]))
    return blocks


@pytest.mark.parametrize(("heading", "example"), examples())
def test_examples_of_the_readme(
    heading: str, example: str, hub: Hub, event: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The names of the examples become those of the demo data, so that the Hub takes them.
    for name, value in {"reply-draft": event["skill_id"], "support-agent": event["archetype_id"]}.items():
        example = example.replace(name, value)
    example = example.replace("user:kim@example.com", event["user_id"])
    answer = {"model": "claude-sonnet-4-5", "usage": {"input_tokens": 3, "output_tokens": 4}}
    client = Object(
        messages=Object(create=lambda **sent: answer),
        chat=Object(completions=Object(create=lambda **sent: answer)),
        invoke=lambda messages, config: config["callbacks"][0],
    )
    vectors = json.loads((checkout / "sdk/webhooks/vectors.json").read_text())
    monkeypatch.chdir(tmp_path)
    if heading == "Webhooks":
        monkeypatch.setattr("time.time", lambda: vectors["now"])
    case = next(one for one in vectors["cases"] if one["refused"] is None and "body" in one)
    record_id = next(iter(hub.records.list(record_type="decision", limit=1)))["record_id"]
    given = {
        "hub": hub,
        "event": event,
        "record_id": record_id,
        "ask_model": lambda question: answer,
        "messages": [],
        "model": client,
        "vendor": client,
        "body": case["body"].encode(),
        "headers": {"X-Service-Signature": case["signature"]},
        "secret": case["secrets"][0] if isinstance(case["secrets"], list) else case["secrets"],
    }
    file = tmp_path / "example.py"
    file.write_text(example)
    runpy.run_path(str(file), given)


def commands() -> list[str]:
    """Returns the commands of the README, without their comments."""
    lines = re.findall(r"^    ((?:pip|python) .+)$|`(pip wheel [^`]+)`", (package / "README.md").read_text(), re.M)
    return [(block or inline).split("  #")[0].strip() for block, inline in lines]


@pytest.mark.parametrize("command", [one for one in commands() if one.startswith("pip")])
def test_install_commands_of_the_readme(command: str, tmp_path: Path) -> None:
    # From a copy, because a build writes beside its sources. Debian's packages are the dependencies: no index is asked.
    shutil.copytree(package, tmp_path / "sdk/python", ignore=shutil.ignore_patterns("__pycache__"))
    options = "--no-build-isolation --no-index --find-links ."
    if " install " in command:
        options += " --no-deps --target installed"
    action, rest = command.removeprefix("pip ").split(" ", 1)
    script = f"{sys.executable} -m pip --disable-pip-version-check -q {action} {options} {rest}"
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    found = tmp_path / "installed/org_memory_hub/py.typed"
    assert found.exists() if " install " in command else list(tmp_path.glob("org_memory_hub-*.whl"))


@pytest.mark.parametrize("command", [one for one in commands() if one.startswith("python")])
def test_verifier_commands_of_the_readme(command: str, hub: Hub, tmp_path: Path) -> None:
    record = hub.records.write({"record_type": "decision", **{f"decision_{name}": "x" for name in decision_members}})
    base_url = os.environ["HUB_URL"]
    with urllib.request.urlopen(f"{base_url}/.well-known/provenance-keys.json") as response:
        (tmp_path / "keys.json").write_bytes(response.read())
    (tmp_path / "bundle.json").write_text(json.dumps(hub.records.proof_bundle(record["record_id"])))
    (tmp_path / "decisions.jsonl").write_text(json.dumps(hub.records.get(record["record_id"])))
    script = command.replace("python ", f"{sys.executable} ", 1).replace("https://hub.example.com", base_url)
    environment = {**os.environ, "PYTHONPATH": str(package)}
    subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, check=True)


def test_the_webhook_example_of_the_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (checkout / "docs/webhook-receiver.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    imports, _, handler = example.partition("\n\n")
    given: dict[str, Any] = {}
    exec(f"{imports}\ndef handle(body, headers, secret):\n{textwrap.indent(handler, '    ')}    return message\n", given)
    vectors = json.loads((checkout / "sdk/webhooks/vectors.json").read_text())
    monkeypatch.setattr("time.time", lambda: vectors["now"])
    case = next(one for one in vectors["cases"] if one["refused"] is None and "body" in one)
    body, headers = case["body"].encode(), {"X-Service-Signature": case["signature"]}
    assert given["handle"](body, headers, case["secrets"]) == vectors["message"]
    assert given["handle"](body + b" ", headers, case["secrets"]) == ("", 400)


def test_the_example_agent_reports_each_call(hub: Hub) -> None:
    skill = {"record_type": "skill_definition", "skill_id": "reply-draft", "skill_version": "1.0.0", "name": "Draft a reply"}
    if not any(one["skill_version"] == "1.0.0" for one in hub.records.list(record_type="skill_definition", skill_id="reply-draft")):
        hub.records.write(skill)
    done = subprocess.run(
        [sys.executable, checkout / "examples/python-agent/agent.py", "When does my contract end?", "Renew it"],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("At the end of March.\n", "A question ends with a question mark.\n")
    events = list(hub.records.list(record_type="telemetry_event", skill_id="reply-draft", user_id="user:kim@example.com"))
    assert sorted((one["success"], one.get("llm_model"), one["tokens_out"]) for one in events) == [
        (False, None, 0),
        (True, "claude-sonnet-4-5", 6),
    ]


def test_the_readme_is_short_and_every_example_and_command_of_it_runs() -> None:
    readme = (package / "README.md").read_text()
    assert len(readme.splitlines()) <= 150 and readme.count("```") == 2 * len(examples()) == 16
    assert len(commands()) == 5 and os.access(package / "org_memory_hub/py.typed", os.R_OK)
