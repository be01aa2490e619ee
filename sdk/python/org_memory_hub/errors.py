"""The errors that calls to the Hub raise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class HubError(Exception):
    """The base class of all errors of this package, except those of the verifiers."""


class HubConnectionError(HubError):
    """No response arrived: the address is wrong, the connection broke, or a timeout passed."""


class UnexpectedResponse(HubError):
    """A response is not one of the Hub, for example the page of a proxy."""


class ExportFailed(HubError):
    """An export ended without a file. `job` is its last state."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__(f"the export {job.get('job_id')} is {job.get('status')}: {job.get('error') or 'no file'}")
        self.job = job


@dataclass(frozen=True)
class FieldError:
    """One defect of a request. `pointer` is a JSON pointer into the body, or `/query/<name>` or `/headers/<name>`."""

    pointer: str
    detail: str


class HubProblem(HubError):
    """A problem document (RFC 7807). Branch on the class or on `slug`, never on texts."""

    def __init__(self, status: int, document: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.document = document
        self.slug = str(document.get("type", "")).rsplit("/", 1)[-1]
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        self.request_id = str(document.get("instance", ""))
        """Give it to the operator: the Hub's logs have it."""
        self.errors = tuple(_field_errors(document.get("errors")))
        self.retry_after = retry_after
        """Seconds to wait, as the Hub requires."""
        first = f" ({self.errors[0].pointer}: {self.errors[0].detail})" if self.errors else ""
        super().__init__(f"{status} {self.title}: {self.detail or 'no detail'}{first}")


class ValidationFailed(HubProblem):
    """400: correct what `errors` lists."""


class AuthenticationFailed(HubProblem):
    """401: the client id or secret is wrong, or the account is disabled or expired."""


class Forbidden(HubProblem):
    """403: a scope is missing, or the tenant is another one."""


class NotFound(HubProblem):
    """404: the record or job does not exist, or is not visible to this account."""


class Conflict(HubProblem):
    """409: an idempotency key was used for another payload, or the record has changed."""


class PayloadTooLarge(HubProblem):
    """413: split the request."""


class RuleViolated(HubProblem):
    """422: a legal hold, a retention rule, or a skill that is not registered."""


class RateLimited(HubProblem):
    """429: `retry_after` is the number of seconds to wait."""


class HubUnavailable(HubProblem):
    """5xx: the Hub, or a proxy before it, could not respond. Try again later."""


_class_of_status: dict[int, type[HubProblem]] = {
    400: ValidationFailed,
    401: AuthenticationFailed,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: PayloadTooLarge,
    422: RuleViolated,
    429: RateLimited,
}


def problem_of(status: int, document: Mapping[str, Any], retry_after: float | None = None) -> HubProblem:
    """Returns the error for a status and its problem document, which is empty if a proxy answered."""
    if status >= 500:
        return HubUnavailable(status, document, retry_after)
    return _class_of_status.get(status, HubProblem)(status, document, retry_after)


def _field_errors(errors: Any) -> list[FieldError]:
    if not isinstance(errors, list):
        return []
    listed = [one for one in errors if isinstance(one, dict)]
    return [FieldError(str(one.get("pointer", "")), str(one.get("detail", ""))) for one in listed]
