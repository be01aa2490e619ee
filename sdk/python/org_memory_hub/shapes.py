"""The shapes of events and responses. A test compares the members with the Hub's OpenAPI document."""

from typing import Any, Literal, NotRequired, TypedDict

Record = dict[str, Any]
"""A record with its provenance; the members depend on `record_type`."""


class TelemetryEvent(TypedDict):
    """One invocation of a skill."""

    skill_id: str
    skill_version: str
    archetype_id: str
    user_id: str
    llm_platform: str
    llm_model: NotRequired[str]
    ts: str
    success: bool
    latency_ms: int
    tokens_in: int
    tokens_out: int
    cost_usd_estimate: float
    error_code: NotRequired[str | None]
    related_records: NotRequired[list[str]]
    trace_id: NotRequired[str]
    span_id: NotRequired[str]
    parent_span_id: NotRequired[str]
    session_id: NotRequired[str]
    tokens_total_reported: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]


class Written(TypedDict):
    """The identity and provenance of a stored record."""

    record_id: str
    provenance_hash: str
    provenance_cosign: str


class BatchResult(TypedDict):
    """The result of a batch. `errors` lists the first 100 rejected events by their `index`."""

    accepted: int
    failed: int
    records: list[dict[str, Any]]
    errors: NotRequired[list[dict[str, Any]]]
    errors_omitted: NotRequired[int]


class Verification(TypedDict):
    """The result of a verification by the Hub. `python -m org_memory_hub.verify` does not need to trust it."""

    verified: bool
    checks: dict[str, bool]
    content: NotRequired[Any]


class Related(TypedDict):
    """The records around one record; `edges` lead from the record that names the other."""

    root: str
    records: list[Record]
    edges: list[dict[str, str]]
    truncated: bool


class SearchResult(TypedDict):
    """A found record. `snippet` has `‹` and `›` around matches."""

    record: Record
    score: float
    snippet: str


class Suggestion(TypedDict):
    """A skill, person, archetype, model or record."""

    kind: str
    id: str
    label: str


class Summary(TypedDict):
    """Usage by interval and group. `next_cursor` is None on the last page."""

    rows: list[dict[str, Any]]
    totals: dict[str, Any]
    next_cursor: str | None


class ExportJob(TypedDict):
    """The state of an export."""

    job_id: str
    status: Literal["queued", "running", "completed", "failed", "cancelled", "expired"]
    estimated_completion_ts: str
    format: NotRequired[str]
    created_at: NotRequired[str]
    progress: NotRequired[dict[str, int]]
    download_url: NotRequired[str]
    manifest_url: NotRequired[str]
    verification_summary: NotRequired[dict[str, int]]
    error: NotRequired[Any]
