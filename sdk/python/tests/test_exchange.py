"""The protocol without input or output: tokens, retries and errors."""

from typing import Any

import pytest

from org_memory_hub import HubConnectionError, HubProblem, RateLimited, Retries, UnexpectedResponse, ValidationFailed, calls
from org_memory_hub.exchange import Credentials, Exchange, NeedToken, Response, Send, Steps, Wait, _seconds_of, text_of
from org_memory_hub.settings import Settings, settings_from_environment


def settings(**changes: Any) -> Settings:
    return Settings("https://hub.example.com/", "acme", "id", "secret", **changes)


def run(steps: Steps[Any], responses: list[Any]) -> tuple[Any, list[Any]]:
    """Answers each Send with the next response or error. Returns the result and all effects."""
    effects = []
    left = list(responses)
    try:
        effect = next(steps)
        while True:
            effects.append(effect)
            if isinstance(effect, NeedToken):
                effect = steps.send("first" if effect.rejected is None else "second")
            elif isinstance(effect, Wait):
                effect = steps.send(None)
            elif isinstance(left[0], Exception):
                effect = steps.throw(left.pop(0))
            else:
                effect = steps.send(left.pop(0))
    except StopIteration as stop:
        assert left == []
        return stop.value, effects


def ok(body: bytes = b"{}") -> Response:
    return Response(200, {}, body)


def sent(effects: list[Any]) -> list[Any]:
    return [effect.request for effect in effects if isinstance(effect, Send)]


def waits(effects: list[Any]) -> list[float]:
    return [effect.seconds for effect in effects if isinstance(effect, Wait)]


def test_a_call_has_token_tenant_request_id_and_key() -> None:
    exchange = Exchange(settings())
    result, effects = run(exchange.call(calls.write_record({"record_type": "output"}, None)), [ok(b'{"record_id":"1"}')])
    assert result == {"record_id": "1"}
    (request,) = sent(effects)
    assert request.url == "https://hub.example.com/api/v1/hub/records"
    assert request.headers["authorization"] == "Bearer first"
    assert request.headers["x-service-tenant"] == "acme"
    assert request.headers["x-service-request-id"][14] == "7"
    assert len(request.headers["idempotency-key"]) == 32
    assert "secret" not in repr(effects) + repr(exchange.settings) and "first" not in repr(effects)


@pytest.mark.parametrize("fault", [HubConnectionError("broken"), Response(429, {}), Response(503, {}), Response(502, {})])
def test_repeatable_calls_are_repeated_with_the_same_key(fault: Any) -> None:
    _, effects = run(Exchange(settings()).call(calls.send_event({}, None)), [fault, fault, ok()])
    assert len({request.headers["idempotency-key"] for request in sent(effects)}) == 1
    assert len(waits(effects)) == 2
    assert waits(effects)[0] <= 0.25 and waits(effects)[1] <= 0.5


@pytest.mark.parametrize("fault", [HubConnectionError("broken"), Response(503, {"retry-after": "1"}), Response(429, {})])
def test_a_call_that_may_act_twice_is_not_repeated(fault: Any) -> None:
    with pytest.raises((HubConnectionError, HubProblem)):
        run(Exchange(settings()).call(calls.start_export({}, "jsonl", False, True)), [fault])


def test_the_number_of_attempts_is_bounded() -> None:
    exchange = Exchange(settings(retries=Retries(attempts=3)))
    for fault in (HubConnectionError("broken"), Response(500, {})):
        with pytest.raises((HubConnectionError, HubProblem)):
            run(exchange.call(calls.get_record("1", False)), [fault] * 3)


def test_retry_after_is_a_lower_bound_and_a_long_one_raises() -> None:
    exchange = Exchange(settings())
    _, effects = run(exchange.call(calls.get_record("1", False)), [Response(429, {"retry-after": "7"}), ok()])
    assert 7 <= waits(effects)[0] <= 7.25
    with pytest.raises(RateLimited) as raised:
        run(exchange.call(calls.get_record("1", False)), [Response(429, {"retry-after": "61"})])
    assert raised.value.retry_after == 61


def test_a_rejected_token_is_renewed_once() -> None:
    _, effects = run(Exchange(settings()).call(calls.get_record("1", False)), [Response(401, {}), ok()])
    assert [effect.rejected for effect in effects if isinstance(effect, NeedToken)] == [None, "first"]
    with pytest.raises(HubProblem):
        run(Exchange(settings()).call(calls.get_record("1", False)), [Response(401, {})] * 2)


def test_tokens_are_renewed_before_they_expire() -> None:
    now = [0.0]
    credentials = Credentials(lambda: now[0])
    exchange = Exchange(settings(), credentials)
    _, effects = run(exchange.new_token(), [ok(b'{"access_token":"t","expires_in":3600}')])
    assert b"client_secret=secret" in sent(effects)[0].content
    now[0] = 3539
    assert credentials.current(None) == "t"
    assert credentials.current("t") is None
    now[0] = 3541
    assert credentials.current(None) is None
    credentials.accept("short", 10)
    now[0] += 6
    assert credentials.current(None) is None


def test_a_wrong_secret_is_not_repeated() -> None:
    with pytest.raises(HubProblem):
        run(Exchange(settings()).new_token(), [Response(401, {}, b'{"error":"invalid_client"}')])


def test_problems_name_the_field() -> None:
    document = b'{"type":"https://h/errors/validation-failed","title":"T","status":400,"instance":"i","errors":[{"pointer":"/a","detail":"is required"}]}'
    with pytest.raises(ValidationFailed) as raised:
        run(Exchange(settings()).call(calls.send_event({}, None)), [Response(400, {}, document)])
    assert (raised.value.slug, raised.value.request_id) == ("validation-failed", "i")
    assert "/a: is required" in str(raised.value)


def test_pages_of_proxies_are_no_results() -> None:
    with pytest.raises(UnexpectedResponse):
        run(Exchange(settings()).call(calls.get_record("1", False)), [ok(b"<html>")])
    for body in (b"", b"{}", b"[]", b"null", b'{"accepted":"1","failed":0}'):
        with pytest.raises(UnexpectedResponse, match="no counts of events"):
            run(Exchange(settings()).call(calls.send_events([b"{}"], None)), [ok(body)])
    with pytest.raises(HubProblem, match="no detail"):
        run(Exchange(settings(retries=Retries(attempts=1))).call(calls.get_record("1", False)), [Response(502, {}, b"<html>")])


@pytest.mark.parametrize("url", ["http://hub.example.com", "ftp://h", "https://", "https://u:p@h", "https://h?x=1"])
def test_addresses_that_expose_the_secret_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        Settings(url, "acme", "id", "secret")


def test_missing_settings_are_named() -> None:
    with pytest.raises(ValueError, match="HUB_CLIENT_SECRET"):
        settings_from_environment({"HUB_URL": "https://h", "HUB_TENANT": "t", "HUB_CLIENT_ID": "i"})
    with pytest.raises(ValueError, match="tenant is required"):
        Settings("https://h", "", "id", "secret")


def test_ids_stay_within_their_segment() -> None:
    assert calls.get_record("../a?b", False).path == "/api/v1/hub/records/..%2Fa%3Fb"
    with pytest.raises(ValueError):
        calls.get_record("..", False)


def test_downloads_send_no_token() -> None:
    response, effects = run(Exchange(settings()).open_download("https://files.example.com/x"), [Response(200, {})])
    assert [type(effect) for effect in effects] == [Send] and dict(sent(effects)[0].headers) == {}
    with pytest.raises(UnexpectedResponse):
        run(Exchange(settings()).open_download("file:///etc/passwd"), [])


def test_values_and_times() -> None:
    from datetime import datetime

    assert text_of(datetime.fromisoformat("2026-01-05T10:30:00+01:00")) == "2026-01-05T09:30:00.000000Z"
    with pytest.raises(ValueError, match="time zone"):
        text_of(datetime(2026, 1, 5))
    assert _seconds_of("soon") is None
    assert _seconds_of("Thu, 01 Jan 1970 00:00:00 GMT") == 0
    with pytest.raises(ValueError):
        calls.send_event({"cost_usd_estimate": float("nan")}, None)
