"""The decorator, the context manager, and the integrations with recorded responses of the vendors' clients."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from types import SimpleNamespace as Object
from typing import Any

import pytest

from org_memory_hub import Hub
from org_memory_hub.integrations.anthropic import track_anthropic
from org_memory_hub.integrations.langchain import HubCallbackHandler
from org_memory_hub.integrations.openai import track_openai
from org_memory_hub.tracking import Invocation, tracked

given = {"skill_id": "s", "skill_version": "1.0.0", "archetype_id": "a", "user_id": "user:u", "llm_platform": "claude"}


class Events(list[dict[str, Any]]):
    """Takes events as the batcher does, and is a client for the integrations."""

    def put(self, event: Mapping[str, Any], timeout: float | None = None) -> bool:
        assert timeout == 0
        self.append(dict(event))
        return True

    def invocation(self, **fields: Any) -> Invocation:
        return Invocation(self, {**given, **fields})


@pytest.fixture
def events() -> Events:
    return Events()


openai_completion = Object(
    id="chatcmpl-1",
    object="chat.completion",
    model="gpt-5-2025-08-07",
    choices=[Object(index=0, message=Object(role="assistant", content="secret answer"), finish_reason="stop")],
    usage=Object(prompt_tokens=19, completion_tokens=10, total_tokens=29),
)
anthropic_message = Object(
    id="msg_1",
    type="message",
    role="assistant",
    model="claude-sonnet-4-5-20250929",
    content=[Object(type="text", text="secret answer")],
    usage=Object(input_tokens=25, output_tokens=15, cache_read_input_tokens=0),
)


def test_functions_that_succeed_and_fail(events: Events) -> None:
    @tracked(events, given)
    def reply(question: str) -> Any:
        """Answers."""
        if question == "bad":
            raise ValueError("secret question")
        return openai_completion

    assert reply("good") is openai_completion and reply.__doc__ == "Answers."
    with pytest.raises(ValueError):
        reply("bad")
    good, bad = events
    assert good["success"] and (good["tokens_in"], good["tokens_out"]) == (19, 10) and good["llm_model"].startswith("gpt-5")
    assert good["latency_ms"] >= 1 and good["ts"].endswith("Z") and "error_code" not in good
    assert not bad["success"] and bad["error_code"] == "ValueError"
    assert "secret" not in repr(events)


def test_coroutine_functions_and_cancellation(events: Events) -> None:
    @tracked(events, given)
    async def reply(seconds: float) -> Any:
        await asyncio.sleep(seconds)
        return anthropic_message

    async def run() -> None:
        assert await reply(0) is anthropic_message
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(reply(3600), 0.01)

    asyncio.run(run())
    assert [event.get("error_code") for event in events] == [None, "CancelledError"]
    assert (events[0]["tokens_in"], events[0]["tokens_out"]) == (25, 15)


def test_a_result_that_is_no_response_gives_nothing_away(events: Events) -> None:
    assert tracked(events, given)(lambda: {"model": "secret car", "usage": "secret"})()
    assert "secret" not in repr(events)


def test_values_at_the_end_and_members_from_within(events: Events) -> None:
    with Invocation(events, {**given, "user_id": lambda: "user:late"}) as invocation:
        invocation.set(session_id="run-1", cost_usd_estimate=0.5)
    assert (events[0]["user_id"], events[0]["session_id"], events[0]["cost_usd_estimate"]) == ("user:late", "run-1", 0.5)


def test_a_long_call_has_the_highest_latency_that_the_hub_takes(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    invocation = Invocation(events, given)
    monkeypatch.setattr("time.perf_counter", lambda: invocation._started + 3600)
    invocation.finish()
    assert events[0]["latency_ms"] == 599_999


def test_telemetry_never_breaks_the_program(events: Events, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> str:
        raise RuntimeError("no user")

    with Invocation(events, {**given, "user_id": broken}):
        pass
    with Invocation(events, {**given, "user_id": None}):
        pass
    assert events == [] and "user_id is required" in caplog.text


def test_mistakes_are_found_when_a_function_is_decorated(events: Events) -> None:
    def generate() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="skill_id"):
        tracked(events, {})
    with pytest.raises(TypeError, match="skil_id"):
        tracked(events, {**given, "skil_id": "s"})
    with pytest.raises(TypeError, match="generator"):
        tracked(events, given)(generate)


class Stream:
    """A stream of a vendor's client, and that of its async client."""

    def __init__(self, *parts: Any) -> None:
        self.parts = iter(parts)
        self.closed = False

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> Any:
        return next(self.parts)

    def close(self) -> None:
        self.closed = True


class AsyncVendorStream:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    async def __aiter__(self) -> AsyncIterator[Any]:
        for part in self.parts:
            yield part

    async def close(self) -> None:
        pass


openai_parts = [Object(model="gpt-5", usage=None), Object(model="gpt-5", usage=Object(prompt_tokens=7, completion_tokens=3))]
anthropic_parts = [
    Object(type="message_start", message=Object(model="claude-x", usage=Object(input_tokens=25, output_tokens=1))),
    Object(type="content_block_delta", delta=Object(text="secret")),
    Object(type="message_delta", usage=Object(output_tokens=15)),
]


def openai_client(result: Any) -> Any:
    def create(**sent: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    completions = Object(create=create, parse=create)
    return Object(
        chat=Object(completions=completions),
        models=Object(list=lambda: ["gpt-5"]),
        with_options=lambda **options: openai_client(result),
    )


def test_openai(events: Events) -> None:
    client = track_openai(openai_client(openai_completion), events, skill_id="reply")  # type: ignore[arg-type]
    assert client.chat.completions.create(model="gpt-5", messages=[]) is openai_completion
    assert client.models.list() == ["gpt-5"]
    (event,) = events
    assert (event["skill_id"], event["llm_platform"], event["tokens_in"]) == ("reply", "chatgpt", 19)


def test_a_call_without_a_model_names_none(events: Events) -> None:
    track_openai(openai_client({"output": "x"}), events).chat.completions.create(messages=[])  # type: ignore[arg-type]
    messages = Object(create=lambda **sent: {"output": "x"})
    track_anthropic(Object(messages=messages), events).messages.create(model=None)  # type: ignore[arg-type]
    assert [event.get("llm_model") for event in events] == [None, None]


def test_copies_of_a_client_and_parsed_answers(events: Events) -> None:
    client = track_openai(openai_client(openai_completion), events, skill_id="reply")  # type: ignore[arg-type]
    client.with_options(timeout=5).chat.completions.create(model="gpt-5", messages=[])
    assert client.chat.completions.parse(model="gpt-5", messages=[]) is openai_completion
    assert [(event["skill_id"], event["tokens_in"]) for event in events] == [("reply", 19), ("reply", 19)]


def test_openai_errors_and_streams(events: Events) -> None:
    failing = track_openai(openai_client(TimeoutError("secret")), events)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError):
        failing.chat.completions.create(model="gpt-5")
    assert (events[0]["error_code"], events[0]["llm_model"]) == ("TimeoutError", "gpt-5")
    stream = Stream(*openai_parts)
    with track_openai(openai_client(stream), events).chat.completions.create(model="gpt-5") as parts:  # type: ignore[arg-type]
        assert len(list(parts)) == 2 and len(events) == 2
    assert stream.closed and len(events) == 2
    assert (events[1]["tokens_in"], events[1]["tokens_out"]) == (7, 3)


def test_async_clients(events: Events) -> None:
    async def create(**sent: Any) -> Any:
        if sent["model"] == "broken":
            raise TimeoutError
        return AsyncVendorStream(*anthropic_parts) if sent.get("stream") else anthropic_message

    client = track_anthropic(Object(messages=Object(create=create)), events)  # type: ignore[arg-type]

    async def run() -> None:
        assert await client.messages.create(model="claude-x") is anthropic_message
        assert len([part async for part in await client.messages.create(model="claude-x", stream=True)]) == 3
        with pytest.raises(TimeoutError):
            await client.messages.create(model="broken")

    asyncio.run(run())
    assert [(event["tokens_in"], event["tokens_out"]) for event in events] == [(25, 15), (25, 15), (0, 0)]
    assert [event["success"] for event in events] == [True, True, False]
    assert "secret" not in repr(events)


def test_streams_that_are_left_early(events: Events) -> None:
    client = track_openai(openai_client(Stream(*openai_parts)), events)  # type: ignore[arg-type]
    for _ in client.chat.completions.create(model="gpt-5"):
        break
    assert [(event["success"], event["llm_model"]) for event in events] == [(True, "gpt-5")]

    async def create(**sent: Any) -> Any:
        return AsyncVendorStream(*anthropic_parts)

    async def run() -> None:
        messages = track_anthropic(Object(messages=Object(create=create)), events).messages  # type: ignore[arg-type]
        stream = await messages.create(model="claude-x", stream=True)
        assert (await anext(stream)).type == "message_start" and (await anext(stream)).type == "content_block_delta"
        assert len(events) == 1
        del stream
        async for _ in await messages.create(model="claude-x", stream=True):
            break

    asyncio.run(run())
    assert [(event["success"], event["tokens_in"]) for event in events[1:]] == [(True, 25), (True, 25)]


def test_a_wrapped_client_is_a_context_manager(events: Events) -> None:
    class Client:
        def __init__(self) -> None:
            self.steps: list[str] = []
            self.messages = Object(create=lambda **sent: anthropic_message)

        def __enter__(self) -> "Client":
            self.steps.append("enter")
            return self

        def __exit__(self, *raised: Any) -> None:
            self.steps.append(f"exit {raised[0]}")

        async def __aenter__(self) -> "Client":
            return self.__enter__()

        async def __aexit__(self, *raised: Any) -> None:
            self.__exit__(*raised)

    vendor = Client()

    async def run() -> None:
        async with track_anthropic(vendor, events) as client:  # type: ignore[arg-type]
            client.messages.create(model="claude-x")

    with track_anthropic(vendor, events) as client:  # type: ignore[arg-type]
        client.messages.create(model="claude-x")
    asyncio.run(run())
    assert vendor.steps == ["enter", "exit None"] * 2 and len(events) == 2


def chain_result(llm_output: Any, *messages: Any) -> Any:
    return Object(llm_output=llm_output, generations=[[Object(text="secret", message=one) for one in messages]])


def test_langchain(events: Events) -> None:
    handler = HubCallbackHandler(events, skill_id="reply")  # type: ignore[arg-type]
    metadata = {"ls_provider": "anthropic", "ls_model_name": "claude-sonnet-4-5"}
    message = Object(content="secret", usage_metadata={"input_tokens": 8, "output_tokens": 4, "total_tokens": 12})
    older = chain_result({"token_usage": {"prompt_tokens": 5, "completion_tokens": 6}})
    for result in (chain_result(None, message), older):
        run_id = uuid.uuid4()
        handler.on_chat_model_start({}, [["secret"]], run_id=run_id, metadata=metadata, parent_run_id=None, tags=[])
        handler.on_llm_end(result, run_id=run_id)
    run_id = uuid.uuid4()
    handler.on_llm_start({}, ["secret"], run_id=run_id, invocation_params={"model_name": "gpt-5"})
    handler.on_llm_error(TimeoutError("secret"), run_id=run_id)
    handler.on_llm_end(older, run_id=uuid.uuid4())
    assert [(event["tokens_in"], event["tokens_out"]) for event in events] == [(8, 4), (5, 6), (0, 0)]
    assert [event["llm_platform"] for event in events] == ["claude", "claude", "claude"]
    assert [event["llm_model"] for event in events] == ["claude-sonnet-4-5", "claude-sonnet-4-5", "gpt-5"]
    assert "secret" not in repr(events)


def test_tracked_functions_fill_a_live_hub(account: dict[str, Any], hub: Hub, fields: dict[str, Any]) -> None:
    session = str(uuid.uuid4())
    with Hub(**account, event_defaults={**fields, "session_id": session}) as client:

        @client.track(llm_model="claude-sonnet-4-5")
        def reply() -> Any:
            return anthropic_message

        reply()
        track_anthropic(Object(messages=Object(create=lambda **sent: anthropic_message)), client).messages.create(model="m")
        with pytest.raises(KeyError), client.invocation():
            raise KeyError("secret")
    stored = list(hub.records.list(session_id=session))
    assert [(one["success"], one["tokens_in"]) for one in stored] == [(True, 25), (True, 25), (False, 0)]
    assert stored[2]["error_code"] == "KeyError"
