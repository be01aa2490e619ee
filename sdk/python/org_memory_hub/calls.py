"""The operations of the Hub, as calls that `Hub` and `AsyncHub` carry out."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import UnexpectedResponse
from .exchange import Call, Scalar, json_bytes, path_segment
from .shapes import BatchResult, ExportJob, Record, Related, Suggestion, Summary, TelemetryEvent, Verification, Written

Filters = Mapping[str, Scalar]
PageDocument = dict[str, Any]


def _as_is(document: Any) -> Any:
    return document


def _items(document: Any) -> Any:
    return document["items"]


def _batch_result(document: Any) -> Any:
    counts = document if isinstance(document, dict) else {}
    if not isinstance(counts.get("accepted"), int) or not isinstance(counts.get("failed"), int):
        raise UnexpectedResponse("the response has no counts of events: is base_url the Hub's address?")
    return document


def _get(path: str, query: Filters | None = None) -> Call[Any]:
    return Call("GET", path, _as_is, query or {})


def _post(path: str, body: Any, key: str | None = None, *, is_keyed: bool = False, is_repeatable: bool = True) -> Call[Any]:
    used_key = (key or uuid.uuid4().hex) if is_keyed else None
    return Call("POST", path, _as_is, {}, json_bytes(body), used_key, is_repeatable)


def list_records(filters: Filters) -> Call[PageDocument]:
    return _get("/api/v1/hub/records", filters)


def get_record(record_id: str, verify: bool) -> Call[Record]:
    return _get(f"/api/v1/hub/records/{path_segment(record_id)}", {"verify": verify or None})


def write_record(record: Mapping[str, Any], key: str | None) -> Call[Written]:
    return _post("/api/v1/hub/records", dict(record), key, is_keyed=True)


def verify_record(record_id: str) -> Call[Verification]:
    return _post(f"/api/v1/hub/records/{path_segment(record_id)}/verify", {})


def related_records(record_id: str, depth: int, direction: str) -> Call[Related]:
    return _get(f"/api/v1/hub/records/{path_segment(record_id)}/related", {"depth": depth, "direction": direction})


def proof_bundle(record_id: str, consistency_from: int | None) -> Call[dict[str, Any]]:
    return _get(f"/api/v1/hub/records/{path_segment(record_id)}/proof-bundle", {"consistency_from": consistency_from})


def search(q: str, filters: Filters) -> Call[PageDocument]:
    return _get("/api/v1/hub/search", {"q": q, **filters})


def suggest(q: str, kind: str | None) -> Call[list[Suggestion]]:
    return Call("GET", "/api/v1/suggest", _items, {"q": q, "kind": kind})


def send_event(event: TelemetryEvent | Mapping[str, Any], key: str | None) -> Call[Written]:
    return _post("/api/v1/telemetry/events", dict(event), key, is_keyed=True)


def send_events(events: Sequence[bytes], key: str | None) -> Call[BatchResult]:
    """Sends events that are JSON already, so that the batcher serialises each once."""
    content = b'{"events":[' + b",".join(events) + b"]}"
    return Call("POST", "/api/v1/telemetry/events:batch", _batch_result, {}, content, key or uuid.uuid4().hex)


def summary(filters: Filters) -> Call[Summary]:
    return _get("/api/v1/telemetry/summary", _with_from(filters))


def reconciliation(filters: Filters) -> Call[PageDocument]:
    return _get("/api/v1/telemetry/reconciliation", _with_from(filters))


def start_export(
    filters: Mapping[str, Any] | None, format: str, verify: bool, include_provenance: bool
) -> Call[ExportJob]:
    body = {"filter": dict(filters or {}), "format": format, "verify": verify, "include_provenance": include_provenance}
    # An export takes no idempotency key: a repeated call would start a second one.
    return _post("/api/v1/hub/records:export", body, is_repeatable=False)


def get_export(job_id: str) -> Call[ExportJob]:
    return _get(f"/api/v1/hub/exports/{path_segment(job_id)}")


def list_exports(filters: Filters) -> Call[PageDocument]:
    return _get("/api/v1/hub/exports", filters)


def cancel_export(job_id: str) -> Call[ExportJob]:
    return _post(f"/api/v1/hub/exports/{path_segment(job_id)}:cancel", {})


def _with_from(filters: Filters) -> Filters:
    """`from` is a keyword of Python, so callers write `from_`."""
    return {"from" if name == "from_" else name: value for name, value in filters.items()}
