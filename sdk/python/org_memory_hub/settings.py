"""Settings of a client."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Retries:
    """Bounds of the retries of one call. Only calls that may be repeated are retried."""

    attempts: int = 6
    backoff_seconds: float = 0.25
    """The mean of the first wait is half of it; each further one doubles."""
    wait_seconds_max: float = 60.0
    """A longer `Retry-After` raises the error at once."""


@dataclass(frozen=True)
class Settings:
    """Address of the Hub and the service account."""

    base_url: str
    tenant: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    timeout_seconds: float = 30.0
    retries: Retries = Retries()

    def __post_init__(self) -> None:
        for name in ("base_url", "tenant", "client_id", "client_secret"):
            if not getattr(self, name):
                raise ValueError(f"{name} is required")
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("base_url must be the http or https address of the Hub")
        if parts.username is not None:
            raise ValueError("base_url must have no user name or password")
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise ValueError("base_url must be https: over http the secret would cross the network in clear")


def settings_from_environment(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Returns the settings in `HUB_URL`, `HUB_TENANT`, `HUB_CLIENT_ID` and `HUB_CLIENT_SECRET`."""
    variables = os.environ if environment is None else environment
    names = {
        "base_url": "HUB_URL",
        "tenant": "HUB_TENANT",
        "client_id": "HUB_CLIENT_ID",
        "client_secret": "HUB_CLIENT_SECRET",
    }
    missing = [variable for variable in names.values() if not variables.get(variable)]
    if missing:
        raise ValueError(f"the environment variables {', '.join(missing)} are required")
    return {name: variables[variable] for name, variable in names.items()}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
