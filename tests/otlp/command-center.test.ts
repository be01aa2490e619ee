import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../provenance/index.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { snippetsFor } from '../../web/components/quick-start/snippets.ts'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { exportedBy, pairsOf, sendSpan } from './exporter-process.ts'
import { chat, toProtobuf } from './otlp-bodies.ts'
import { setMapping } from './otlp-lab.ts'

/** Each source has a skill of its own, so that the sums of the command center tell them apart. */
const skills = ['by-otel', 'masked', 'by-sdk']

let hub: TestHub
let account: { client_id: string; client_secret: string }
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  for (const skill of skills) await registerSkill(hub, 'acme', skill)
  const { body } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'sources', scopes: ['telemetry:write'] },
  })
  account = body
})
afterAll(() => hub.stop())

/** Returns a snippet of the quick start with the values of the account. */
function snippet(id: 'otlp' | 'claude-code', skillId: string): string {
  const values = { baseUrl: hub.baseUrl, tenant: 'acme', clientId: account.client_id, skillId, skillVersion: '1.0.0' }
  const person = { archetypeId: 'analyst', userId: 'user:kim@example.com' }
  const all = snippetsFor({ ...values, ...person, clientSecret: account.client_secret })
  return all.find((each) => each.id === id)!.text
}

const dayMs = 86_400_000
/** Two days around a time, as the command center asks for them. */
const periodOf = (ms: number) => ({
  from: new Date((Math.floor(ms / dayMs) - 1) * dayMs).toISOString(),
  to: new Date((Math.floor(ms / dayMs) + 2) * dayMs).toISOString(),
})

/** Expects the sums of a skill in the answer that fills the command center. */
async function expectInSummary(skillId: string, expected: object, ms = Date.now()): Promise<void> {
  const query = new URLSearchParams({ ...periodOf(ms), group_by: 'skill', skill_id: skillId })
  const summary = async () => {
    const { status, body } = await hub.call('acme', 'GET', `/api/v1/telemetry/summary?${query}`)
    expect(status).toBe(200)
    return body
  }
  await expect.poll(async () => (await summary()).totals).toMatchObject(expected)
  expect((await summary()).rows).toMatchObject([{ key: skillId, ...expected }])
}

test('an unmodified SDK of OpenTelemetry, with the variables of the quick start', async () => {
  const variables = await exportedBy(snippet('otlp', 'by-otel'))
  const { 'skill.name': _, 'user.id': __, ...attributes } = chat
  for (let calls = 0; calls < 2; calls += 1) await sendSpan(variables, attributes)
  await expectInSummary('by-otel', { invocations: 2, failures: 0, tokens_in: 2000, tokens_out: 400 })
})

test('Claude Code, by its recorded telemetry and the settings of the quick start', async () => {
  await setMapping(hub, 'acme', { default_skill_id: 'masked' })
  const { env } = JSON.parse(snippet('claude-code', 'unused')) as { env: Record<string, string> }
  const request: JsonObject = JSON.parse(readFileSync(new URL('payloads/claude-code.json', import.meta.url), 'utf8'))
  const response = await fetch(`${env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS) },
    body: new Uint8Array(toProtobuf(request)),
  })
  expect([response.status, await response.text()]).toEqual([200, ''])
  const recordedMs = Date.parse('2026-01-05T09:30:00Z')
  const ofSkill = { invocations: 2, failures: 0, tokens_in: 432, tokens_out: 250, cost_usd_estimate: 0.018555 }
  await expectInSummary('sum-up', ofSkill, recordedMs)
  // Claude Code masks the names of skills unless OTEL_LOG_TOOL_DETAILS=1.
  await expectInSummary(
    'masked',
    { invocations: 2, failures: 1, tokens_in: 305, cost_usd_estimate: 0.000365 },
    recordedMs,
  )
  const failed = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&success=false')
  expect(failed.body.records).toMatchObject([
    {
      ...{ skill_id: 'masked', llm_model: 'claude-sonnet-4-5', error_code: '529', latency_ms: 102 },
      ...{ tokens_in: 0, tokens_out: 0, cost_usd_estimate: 0 },
    },
  ])
  expect(env.OTEL_LOG_TOOL_DETAILS).toBe('1')
})

test('the SDK for TypeScript, by its batcher', async () => {
  await using client = new HubClient({
    ...{ baseUrl: hub.baseUrl, tenant: 'acme' },
    ...{ clientId: account.client_id, clientSecret: account.client_secret },
  })
  const names = { skill_id: 'by-sdk', skill_version: '1.0.0', archetype_id: 'analyst', user_id: 'user:kim@example.com' }
  const call = { llm_platform: 'claude', success: true, latency_ms: 900, tokens_in: 100, tokens_out: 20 }
  const sent = { ...names, ...call, cost_usd_estimate: 0.01 }
  for (let count = 0; count < 5; count += 1) await client.telemetry.track({ ...sent, ts: new Date().toISOString() })
  await client.telemetry.flush()
  await expectInSummary('by-sdk', { invocations: 5, failures: 0, tokens_in: 500, tokens_out: 100 })
})
