"""Calls the Org-Memory Hub: records with provenance, telemetry of skill invocations, search and exports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .async_client import AsyncHub
    from .batcher import Batcher, BatcherStats
    from .client import Hub
    from .errors import ExportFailed, FieldError, HubConnectionError, HubError, HubProblem, UnexpectedResponse
    from .errors import AuthenticationFailed, Conflict, Forbidden, HubUnavailable, NotFound, RateLimited
    from .errors import PayloadTooLarge, RuleViolated, ValidationFailed
    from .settings import Retries
    from .tracking import Invocation
    from .webhooks import WebhookRefused, verify_webhook

_errors = (
    "AuthenticationFailed Conflict ExportFailed FieldError Forbidden HubConnectionError HubError HubProblem "
    "HubUnavailable NotFound PayloadTooLarge RateLimited RuleViolated UnexpectedResponse ValidationFailed"
)
_module_of = {
    "AsyncHub": "async_client",
    "Batcher": "batcher",
    "BatcherStats": "batcher",
    "Hub": "client",
    "Invocation": "tracking",
    "Retries": "settings",
    "WebhookRefused": "webhooks",
    "verify_webhook": "webhooks",
    **{name: "errors" for name in _errors.split()},
}
__all__ = [
    "AsyncHub", "AuthenticationFailed", "Batcher", "BatcherStats", "Conflict", "ExportFailed", "FieldError", "Forbidden",
    "Hub", "HubConnectionError", "HubError", "HubProblem", "HubUnavailable", "Invocation", "NotFound", "PayloadTooLarge",
    "RateLimited", "Retries", "RuleViolated", "UnexpectedResponse", "ValidationFailed", "WebhookRefused", "verify_webhook",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used, so that the verifiers work without httpx."""
    if name not in _module_of:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_module_of[name]}", __name__), name)
