import type pg from 'pg'
import { expect } from 'vitest'
import type { Finding } from '../../server/modules/integrity-sweep/sweep-types.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'
import { event } from './events.ts'

export const model = 'claude-3-haiku-20240307'

export const eventsOf = (user_id: string, count = 24) =>
  Array.from({ length: count }, (_, at) =>
    event({
      user_id,
      ts: new Date(Date.UTC(2026, 0, 5 + (at % 3), at % 24, at)).toISOString(),
      latency_ms: 100 + 31 * at,
      llm_model: at % 4 === 0 ? undefined : model,
      success: at % 5 !== 0,
      error_code: at % 5 === 0 ? 'timeout' : undefined,
    }),
  )

/** Stores events and returns their ids. */
export async function ingestInto(hub: TestHub, tenant: TestTenant, events: object[]): Promise<string[]> {
  const { body } = await hub.call(tenant, 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect(body.failed, JSON.stringify(body.errors)).toBe(0)
  return body.records.map((record: { record_id: string }) => record.record_id)
}

/** Runs one count of all figures of the tenant, with work between its steps. */
export async function auditFigures(
  hub: TestHub,
  tenant: TestTenant,
  between: (step: number) => Promise<unknown> = async () => {},
): Promise<Finding[]> {
  const { step } = hub.modules.rollups.audit(await hub.tenant(tenant), 'all')
  const findings: Finding[] = []
  for (let at = 0; ; at += 1) {
    const done = await step()
    findings.push(...done.findings)
    if (done.isOver) return findings
    await between(at)
  }
}

/** Tables that the figures come from besides records. */
const figureTables = ['telemetry_rollups', 'telemetry_ratings', 'adjustment_proofs']

/** Copies these tables and returns how to set a tenant, or all, back to the copy. */
export async function copyFigures(db: pg.Client, name: string): Promise<(tenant?: TestTenant) => Promise<void>> {
  for (const table of figureTables) await db.query(`create table public.${name}_${table} as select * from hub.${table}`)
  return async (tenant) => {
    const where = tenant === undefined ? '' : `where tenant_id = '${tenant}'`
    for (const table of figureTables)
      await db.query(`delete from hub.${table} ${where};
        insert into hub.${table} select * from public.${name}_${table} ${where}`)
  }
}

/** The finding about ratings, sums of erased events and their proof. */
export const adjustmentsFinding = (...failedChecks: string[]) => [
  { subject: 'figures:adjustments', failedChecks, found: expect.any(Object) },
]
