#!/usr/bin/env python3
"""Verifies webhooks of an Org-Memory Hub, as a receiver. Needs only the standard library.

    verify_webhook(request.get_data(), request.headers["X-Service-Signature"], "whsec_…")

    webhooks.py sdk/webhooks/vectors.json   runs the project's test vectors; exit status 0 if all are as expected
"""

import base64
import hashlib
import hmac
import json
import re
import sys
import time
from collections.abc import Sequence
from typing import Any


class WebhookRefused(Exception):
    """Raised for a webhook that does not verify. Answer 400 and ignore the message. docs/webhook-receiver.md lists the values of `code`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def verify_webhook(
    body: bytes,
    signature: "str | None",
    secrets: "str | Sequence[str]",
    tolerance_seconds: float = 300,
    now: "float | None" = None,
) -> "dict[str, Any]":
    """Returns the message of a webhook. `body` is the bytes as received, `secrets` one secret or several."""
    if not isinstance(body, bytes):
        raise TypeError("body must be the bytes as they were received, not what was parsed from them")
    secrets = [secrets] if isinstance(secrets, str) else list(secrets)
    if not secrets or "" in secrets:
        raise TypeError("secrets must be the secret of the endpoint (whsec_…), or several")
    t, signatures = _read_header(signature)
    keys = [hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest() for secret in secrets]
    if not any(hmac.compare_digest(one, key) for one in signatures for key in keys):
        raise WebhookRefused("signature-mismatch")
    age = (time.time() if now is None else now) - int(t)
    if not age <= tolerance_seconds:
        raise WebhookRefused("signature-stale")
    if age < -60:
        raise WebhookRefused("signature-ahead")
    return _read_message(body)


def _read_header(header: "str | None") -> "tuple[str, list[str]]":
    if not header:
        raise WebhookRefused("signature-missing")
    fields = header[:1025].split(",")
    parts = [part for part in (re.fullmatch(r"([a-z][a-z0-9]*)=([!-+\--~]+)", one) for one in fields) if part]
    if len(header) > 1024 or len(parts) != len(fields):
        raise WebhookRefused("signature-malformed")
    times = [part[2] for part in parts if part[1] == "t"]
    signatures = [part[2] for part in parts if part[1] == "v1"]
    if len(times) != 1 or not re.fullmatch("0|[1-9][0-9]{0,11}", times[0]):
        raise WebhookRefused("signature-malformed")
    if not 1 <= len(signatures) <= 4 or not all(re.fullmatch("[0-9a-f]{64}", one) for one in signatures):
        raise WebhookRefused("signature-malformed")
    return times[0], signatures


def _read_message(body: bytes) -> "dict[str, Any]":
    try:
        message = json.loads(body.decode("utf-8"))
    except ValueError:
        raise WebhookRefused("body-malformed") from None
    types = {"id": str, "kind": str, "tenant": str, "occurred_at": str, "sequence": int, "data": dict}
    if not isinstance(message, dict) or not all(type(message.get(name)) is type_ for name, type_ in types.items()):
        raise WebhookRefused("body-malformed")
    if not all(message[name] for name in ("id", "kind", "tenant", "occurred_at")):
        raise WebhookRefused("body-malformed")
    return message


def run_vectors(path: str) -> int:
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    failed = 0
    for case in vectors["cases"]:
        body = case["body"].encode() if "body" in case else base64.b64decode(case["body_base64"])
        tolerance = case.get("tolerance_seconds", 300)
        try:
            message = verify_webhook(body, case["signature"], case["secrets"], tolerance, vectors["now"])
            refused = None if message == vectors["message"] else "another message"
        except WebhookRefused as error:
            refused = error.code
        if refused != case["refused"]:
            failed += 1
            print(f"{case['name']}: {refused}, not {case['refused']}", file=sys.stderr)
    print(f"{len(vectors['cases'])} vectors checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_vectors(sys.argv[1]))
