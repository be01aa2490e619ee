import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../provenance/index.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { encodings, eventsOf, send, setMapping } from './otlp-lab.ts'

/** Requests written by hand from the documentation of these programs. No program sent them. */
const payloadOf = (program: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`payloads/${program}.json`, import.meta.url), 'utf8'))

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
  for (const tenant of ['acme', 'cmode'] as const) await setMapping(hub, tenant, { default_skill_id: 'sum-up' })
})
afterAll(() => hub.stop())

/** Sends a payload in both encodings, which stores it once. */
async function stored(program: string, sessionId: string, tenant: 'acme' | 'cmode' = 'acme') {
  for (const encoding of encodings) {
    const { status, body } = await send(hub, payloadOf(program), { encoding, tenant })
    expect({ status, body }).toEqual({ status: 200, body: {} })
  }
  const events = await eventsOf(hub, tenant, `&session_id=${sessionId}`)
  expect(JSON.stringify(events)).not.toContain('must not be stored')
  return events
}

const common = { user_id: 'user:kim@example.com', archetype_id: 'analyst', skill_id: 'sum-up' }

test('Gemini CLI: one event for each call, though it reports each twice', async () => {
  const events = await stored('gemini-cli', 'b8a1c7de-53f0-4b39-8f3a-0b6f6a1d2c11')
  expect(events).toHaveLength(2)
  const [answered, failed] = events
  expect(answered).toMatchObject({
    ...{ ...common, llm_platform: 'gemini', llm_model: 'gemini-2.5-pro', success: true, latency_ms: 2311 },
    ...{ tokens_in: 6120 + 30, tokens_out: 180 + 240 },
    metadata: { operation: 'generate_content', tokens_cache_read: 4096, tokens_reasoning: 240, cost_source: 'hub' },
  })
  expect(answered?.cost_usd_estimate).toBeGreaterThan(0)
  expect(failed).toMatchObject({ ...common, success: false, error_code: '429', latency_ms: 87, tokens_in: 0 })
})

test('Codex CLI: completed responses, streams that break off, and refused requests', async () => {
  const events = await stored('codex-cli', '019a7c1e-8d52-7b40-9a55-6f6ad0a5a5a5')
  const platform = { llm_platform: 'chatgpt', llm_model: 'gpt-5-codex' }
  expect(events).toMatchObject([
    { ...common, ...platform, success: false, error_code: '503', latency_ms: 310, tokens_in: 0 },
    { ...common, ...platform, success: true, latency_ms: 1, tokens_in: 11_840, tokens_out: 512 },
    { ...common, ...platform, success: false, error_code: 'error', tokens_in: 0 },
  ])
  const metadata = { operation: 'chat', tokens_cache_read: 9984, tokens_reasoning: 256 }
  expect(events[1]).toMatchObject({ metadata, ts: '2026-01-05T09:30:00.129456Z' })
})

test('LiteLLM: the calls of its tree of spans, with the cost and the user that it knows', async () => {
  const events = await stored('litellm', 'session-7')
  expect(events).toMatchObject([
    {
      ...{ ...common, llm_platform: 'claude', llm_model: 'claude-sonnet-4-5-20250929', success: true },
      ...{ tokens_in: 1250, tokens_out: 310, cost_usd_estimate: 0.0084, latency_ms: 1840 },
      metadata: { operation: 'chat', tokens_cache_read: 1024 },
    },
    { ...common, user_id: 'user:ada@example.com', success: false, error_code: 'RateLimitError' },
  ])
})

test('a rule on the program makes events of its calls alone, and one on an event of that one, too', async () => {
  const restored = { default_skill_id: 'sum-up' }
  const set = { skill_id: 'sum-up', archetype_id: 'analyst' }
  const count = async (session: string, when: object) => {
    const before = await eventsOf(hub, 'acme')
    await setMapping(hub, 'acme', { ...restored, rules: [{ when, set }] })
    const text = JSON.stringify(payloadOf('codex-cli')).replaceAll('019a7c1e', session)
    expect(await send(hub, JSON.parse(text))).toMatchObject({ status: 200, body: {} })
    return (await eventsOf(hub, 'acme')).length - before.length
  }
  expect(await count('119a7c1e', { 'service.name': 'codex_cli_rs' })).toBe(3)
  expect(await count('219a7c1e', { 'event.name': 'codex.conversation_starts' })).toBe(4)
  await setMapping(hub, 'acme', restored)
})

test('Mode C: no metadata', async () => {
  const [event] = await stored('gemini-cli', 'b8a1c7de-53f0-4b39-8f3a-0b6f6a1d2c11', 'cmode')
  expect(event).toMatchObject({ tokens_out: 420 })
  expect(event).not.toHaveProperty('metadata')
})

test('without a default skill they are rejected, each with a reason', async () => {
  const answer = await send(hub, payloadOf('codex-cli'), { tenant: 'globex', encoding: 'application/json' })
  expect(answer.body).toMatchObject({ partialSuccess: { rejectedLogRecords: '3' } })
  expect(JSON.stringify(answer.body)).toMatch(/names no skill: set skill.name, or default_skill_id/)
  expect(await eventsOf(hub, 'globex')).toEqual([])
})

test('a record by the conventions of another program is not ignored', async () => {
  const request = payloadOf('gemini-cli')
  const text = JSON.stringify(request)
    .replaceAll('gemini-cli', 'another')
    .replaceAll('installation.id', 'other.id')
    .replaceAll('b8a1c7de', 'c9b2d8ef')
    .replaceAll('gemini_cli.', 'another.')
  expect(await send(hub, JSON.parse(text))).toMatchObject({ status: 200, body: {} })
  const events = await eventsOf(hub, 'acme', '&session_id=c9b2d8ef-53f0-4b39-8f3a-0b6f6a1d2c11')
  expect(events).toMatchObject([{ tokens_in: 6120 }, { tokens_in: 0 }])
})
