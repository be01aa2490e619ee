import { expect } from 'vitest'
import type { JsonValue } from '../../provenance/index.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { prepareTelemetry, registerSkill } from './telemetry-tenants.ts'

/** What the tests of summary and reconciliation share. */

export const january = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z'

/** Registers skills and sends five events of January, and one of each other tenant. */
export async function sendJanuary(hub: TestHub): Promise<void> {
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
  await registerSkill(hub, 'acme', 'reply')
  await send(hub, 'acme', [
    { ts: '2026-01-05T09:30:00.123456Z', latency_ms: 10, cost_usd_estimate: 0.1 },
    { ts: '2026-01-05T22:59:59.999999Z', latency_ms: 20, cost_usd_estimate: 0.2, user_id: 'user:ada@example.com' },
    { ts: '2026-01-05T23:00:00Z', latency_ms: 30, cost_usd_estimate: 0.3, success: false, error_code: 'timeout' },
    { ts: '2026-01-06T00:00:00Z', latency_ms: 40, cost_usd_estimate: 1, skill_id: 'reply', llm_model: undefined },
    { ts: '2026-01-06T12:00:00Z', latency_ms: 50, cost_usd_estimate: 2, skill_id: 'reply', llm_model: 'in-house' },
  ])
  await send(hub, 'globex', [{ ts: '2026-01-05T10:00:00Z', tokens_in: 7, cost_usd_estimate: 0.0001 }])
  await send(hub, 'cmode', [{ ts: '2026-01-05T10:00:00Z', tokens_in: 9 }])
}

export async function send(
  hub: TestHub,
  tenant: TestTenant,
  changes: Record<string, JsonValue | undefined>[],
): Promise<void> {
  const body = { events: changes.map(event) }
  const answer = await hub.call(tenant, 'POST', '/api/v1/telemetry/events:batch', { body })
  expect(answer.body, answer.text).toMatchObject({ accepted: changes.length, failed: 0 })
}

/** Parameters that both refuse, and where. */
export const refusedQueries: [parameters: string, ...pointers: string[]][] = [
  ['from=yesterday', '/query/from'],
  ['to=2026-02-30T00:00:00Z', '/query/to'],
  ['from=2026-01-05T09:10:00Z', '/query/from'],
  ['to=2026-01-05T09:15:00.000001Z', '/query/to'],
  ['from=2026-01-05T09:15:01Z&to=2026-01-05T09:20:00Z', '/query/from', '/query/to'],
  ['from=2026-01-05T00:00:00+01:00', '/query/from'],
  ['from=2026-01-05T00:00:00Z&to=2026-01-05T00:00:00Z', '/query/from'],
  ['from=2026-01-06T00:00:00Z&to=2026-01-05T00:00:00Z', '/query/from'],
  ['from=2999-01-01T00:00:00Z', '/query/from'],
  ['interval=hour&from=2024-12-31T23:45:00Z&to=2026-01-02T00:00:00Z', '/query/from'],
  ['interval=day&from=1990-01-01T00:00:00Z&to=2026-01-02T00:00:00Z', '/query/from'],
  ['interval=minute', '/query/interval'],
  ['time_zone=Mars/Olympus', '/query/time_zone'],
  ['time_zone=Mars/Olympus&from=2026-01-05T09:10:00Z', '/query/from', '/query/time_zone'],
  ['time_zone=%2B05:30', '/query/time_zone'],
  ['time_zone=', '/query/time_zone'],
  [`time_zone=${'x'.repeat(65)}`, '/query/time_zone'],
  ['group_by=skill_id', '/query/group_by'],
  ['group_by=skill&group_by=user', '/query/group_by'],
  ['skill_id=', '/query/skill_id'],
  ['skill_id=a%20b', '/query/skill_id'],
  ['archetype_id=a/b', '/query/archetype_id'],
  ['user_id=kim', '/query/user_id'],
  ['llm_platform=mistral', '/query/llm_platform'],
  ['llm_model=a%20b', '/query/llm_model'],
  ['user_id=user:a%00b', '/query/user_id'],
  ['group_by=session_id', '/query/group_by'],
  ['session_id=run-1', '/query/session_id'],
  ['success=yes', '/query/success'],
  ['error_code=', '/query/error_code'],
  ['error_code=a%20b', '/query/error_code'],
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['limit=ten', '/query/limit'],
  ['cursor=', '/query/cursor'],
  ['record_type=telemetry_event', '/query/record_type'],
  ['tenant_id=globex', '/query/tenant_id'],
]
