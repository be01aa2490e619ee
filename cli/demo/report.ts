import { itemOfAnswer, type JsonObject, parseKeyDocument, verifyRecordsSync } from '../../provenance/index.ts'
import type { HubClient } from '../../sdk/hub-client.ts'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { nodeCrypto } from '../../server/modules/hub/node-crypto.ts'
import type { Loaded } from './load.ts'

const pageSize = 1000

interface Summary {
  checked: number
  verified: number
  tampered: number
  cosign_invalid: number
}

interface Page {
  records: JsonObject[]
  next_cursor: string | null
  verification_summary: Summary
}

/** What the demo did and found. */
export interface DemoReport {
  tenant: string
  base_url: string
  client_id: string
  events_sent: number
  events_found: number
  events_per_second: number | null
  records_written: number
  records_found: number
  stored: Record<string, number>
  verification: Summary
  /** Records of those that were verified again on this side, with the published keys and nothing else. */
  verified_offline: number
  cost_usd_estimate: number
  cost_usd_computed: number
  unpriced: number
}

/** Reads everything the demo wrote back, verified by the Hub, and a page of it verified again on this side. */
export async function demoReport(
  hub: HubClient,
  baseUrl: string,
  account: ServiceAccountCredentials,
  loaded: Loaded,
): Promise<DemoReport> {
  const totals: Summary = { checked: 0, verified: 0, tampered: 0, cosign_invalid: 0 }
  const stored: Record<string, number> = {}
  const micros = { estimate: 0, computed: 0 }
  let unpriced = 0
  let sample: JsonObject[] = []
  for await (const page of ownPages(hub, account.client_id)) {
    sample = page.records.length > sample.length ? page.records : sample
    for (const name of Object.keys(totals) as (keyof Summary)[]) totals[name] += page.verification_summary[name]
    for (const record of page.records) {
      const type = String(record.record_type)
      stored[type] = (stored[type] ?? 0) + 1
      if (type !== 'telemetry_event') continue
      micros.estimate += Math.round(Number(record.cost_usd_estimate) * 1e6)
      micros.computed += Math.round(Number(record.cost_usd_computed ?? 0) * 1e6)
      if (record.cost_usd_computed === undefined) unpriced += 1
    }
  }
  return {
    tenant: account.tenant,
    base_url: baseUrl,
    client_id: account.client_id,
    events_sent: loaded.eventsSent,
    events_found: loaded.eventsFound,
    events_per_second: loaded.eventsSent === 0 ? null : Math.round(loaded.eventsSent / loaded.sendSeconds),
    records_written: loaded.recordsWritten,
    records_found: loaded.recordsFound,
    stored,
    verification: totals,
    verified_offline: await verifyOffline(baseUrl, sample),
    cost_usd_estimate: micros.estimate / 1e6,
    cost_usd_computed: micros.computed / 1e6,
    unpriced,
  }
}

async function* ownPages(hub: HubClient, clientId: string): AsyncGenerator<Page> {
  let cursor: string | undefined
  do {
    const query = { created_by: clientId, verify: true, limit: pageSize, cursor }
    const page = await hub.get<Page>('/api/v1/hub/records', query)
    yield page
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

/** How many of the records verify with public keys alone. */
async function verifyOffline(baseUrl: string, records: JsonObject[]): Promise<number> {
  const response = await fetch(`${baseUrl}/.well-known/provenance-keys.json`)
  const keys = parseKeyDocument((await response.json()) as JsonObject, nodeCrypto.sha256)
  return verifyRecordsSync(records.map(itemOfAnswer), keys, nodeCrypto).filter((result) => result.verified).length
}

export function describeReport(report: DemoReport): string {
  const count = (value: number) => value.toLocaleString('en')
  const money = (value: number) =>
    `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
  const { verification: verified } = report
  const rate = report.events_per_second === null ? '' : `, ${count(report.events_per_second)} events/s`
  const types = Object.entries(report.stored)
    .filter(([type]) => type !== 'telemetry_event')
    .map(([type, number]) => `${count(number)} ${type}`)
  return [
    `Telemetry   ${count(report.events_sent)} sent${rate}; ${count(report.events_found)} were there from an earlier run`,
    `Records     ${types.join(', ')}`,
    `Verified    ${count(verified.verified)} of ${count(verified.checked)} by the Hub: ${count(verified.tampered)} tampered, ${count(verified.cosign_invalid)} cosignatures invalid`,
    `            ${count(report.verified_offline)} of them again on this side, with public keys only`,
    `Cost        ${money(report.cost_usd_estimate)} as the senders estimate, ${money(report.cost_usd_computed)} by list prices (${count(report.unpriced)} events without a price)`,
    '',
    'Open next',
    `  ${report.base_url}/                              the command center, filled`,
    `  ${report.base_url}/records?record_type=decision  why things were decided, verified by your browser`,
    `  ${report.base_url}/reference                     the API, browsable`,
    `Signed out? npm run hub -- tenant welcome-link ${report.tenant}`,
  ].join('\n')
}
