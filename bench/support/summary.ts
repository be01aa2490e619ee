import { AcknowledgedIds } from './acknowledged-ids.ts'
import type { BenchHub, BenchTenant } from './bench-hub.ts'
import type { StoreCheck } from './figure.ts'
import { logProgress } from './progress.ts'
import { checkStored } from './stored-check.ts'

const quarterMs = 15 * 60_000

/** Returns the last days up to the end of the current quarter of an hour: summaries end at quarters. */
export function lastDays(days: number): { from: string; to: string } {
  const toMs = Math.ceil(Date.now() / quarterMs) * quarterMs
  const text = (ms: number) => new Date(ms).toISOString()
  return { from: text(toMs - days * 86_400_000), to: text(toMs) }
}

interface Summary {
  rows: { key?: string; invocations: number }[]
  totals: { invocations: number }
  next_cursor: string | null
}

export function summaryPath(query: Record<string, string>): string {
  return `/api/v1/telemetry/summary?${new URLSearchParams(query)}`
}

export async function readSummary(hub: BenchHub, tenant: BenchTenant, query: Record<string, string>): Promise<Summary> {
  const response = await fetch(`${hub.url}${summaryPath(query)}`, { headers: await tenant.headers() })
  if (!response.ok) throw new Error(`no summary: ${response.status} ${await response.text()}`)
  return (await response.json()) as Summary
}

/**
 * Looks up each acknowledged record in the store, and compares the summary's totals with the store. An aborted request
 * may have stored its event: the store can hold more than was acknowledged, never less.
 */
export async function checkEvents(
  hub: BenchHub,
  tenant: BenchTenant,
  acknowledged = new AcknowledgedIds(),
): Promise<StoreCheck> {
  logProgress(`looking for each of the ${acknowledged.count} acknowledged records`)
  const { missing, storedEvents } = await checkStored(hub.database, tenant.slug, acknowledged)
  const { totals } = await readSummary(hub, tenant, { ...lastDays(40), group_by: 'skill' })
  return {
    acknowledged: acknowledged.count,
    missing,
    stored_events: storedEvents,
    summary_invocations: totals.invocations,
  }
}
