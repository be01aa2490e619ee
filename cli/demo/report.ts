import type { DemoSummary } from '../../demo/demo-api.ts'
import { listAll, queryAll } from '../../demo/load/lists.ts'
import { quietSkillId } from '../../demo/skills.ts'
import { itemOfResponse, type JsonObject, parseKeyDocument, verifyRecordsSync } from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import type { DemoHub } from './demo-hub.ts'
import type { DemoTarget } from './target.ts'

const pageSize = 1000

interface Verification {
  checked: number
  verified: number
  tampered: number
  cosign_invalid: number
}

interface Page {
  records: JsonObject[]
  next_cursor: string | null
  verification_summary: Verification
}

/** A part of the demo, and the page of the web UI that shows it. */
export interface DemoLink {
  what: string
  /** The absolute URL; only the path if the Hub was temporary. */
  url: string
}

/** The output of `hub demo --json`. */
export interface DemoReport extends DemoSummary {
  tenant: string
  /** Null if the Hub was temporary. */
  base_url: string | null
  client_id: string
  events_per_second: number | null
  /** Numbers of the tenant's records since the demo was first loaded, by type, without purged ones. */
  stored: Record<string, number>
  /** The Hub's own verification of these records. */
  verification: Verification
  /** Number of records of one page that the command verified again, with public keys only. */
  verified_offline: number
  cost_usd_estimate: number
  cost_usd_computed: number
  unpriced: number
  also_stored: AlsoStored
  look_at: DemoLink[]
}

/** Numbers of the tenant's objects besides the records above. */
interface AlsoStored {
  legal_holds: number
  /** Number of purged artifacts: the demo purges no other records. */
  purged_records: number
  saved_views: number
  webhook_endpoints: number
  budgets: number
}

/** Reads the records since the first load, verified by the Hub, and verifies one page of them again. */
export async function demoReport(hub: DemoHub, target: DemoTarget, summary: DemoSummary): Promise<DemoReport> {
  const totals: Verification = { checked: 0, verified: 0, tampered: 0, cosign_invalid: 0 }
  const stored: Record<string, number> = {}
  const micros = { estimate: 0, computed: 0 }
  let unpriced = 0
  let sample: JsonObject[] = []
  for await (const page of pagesSince(hub, summary.written_since)) {
    sample = page.records.length > sample.length ? page.records : sample
    for (const name of Object.keys(totals) as (keyof Verification)[]) totals[name] += page.verification_summary[name]
    for (const record of page.records) {
      const type = String(record.record_type)
      stored[type] = (stored[type] ?? 0) + 1
      if (type !== 'telemetry_event') continue
      micros.estimate += Math.round(Number(record.cost_usd_estimate) * 1e6)
      micros.computed += Math.round(Number(record.cost_usd_computed ?? 0) * 1e6)
      if (record.cost_usd_computed === undefined) unpriced += 1
    }
  }
  const { events, send_seconds } = summary
  const also = await alsoStored(hub, summary.written_since)
  return {
    tenant: target.tenant,
    base_url: target.isTemporary ? null : target.baseUrl,
    client_id: target.clientId,
    ...summary,
    events_per_second: events.written === 0 ? null : Math.round(events.written / send_seconds),
    stored,
    verification: totals,
    verified_offline: await verifyOffline(target.baseUrl, sample),
    cost_usd_estimate: micros.estimate / 1e6,
    cost_usd_computed: micros.computed / 1e6,
    unpriced,
    also_stored: also,
    look_at: linksOf(target.isTemporary ? '' : target.baseUrl, summary, also),
  }
}

async function alsoStored(hub: DemoHub, since: string): Promise<AlsoStored> {
  const lengthOf = async (path: string) => (await listAll(hub, path)).length
  const artifacts = await queryAll(hub, { record_type: 'artifact', include_purged: true, created_at__gte: since })
  return {
    legal_holds: await lengthOf('/api/v1/hub/legal-holds'),
    purged_records: artifacts.filter(({ is_purged }) => is_purged).length,
    saved_views: await lengthOf('/api/v1/views'),
    webhook_endpoints: await lengthOf('/api/v1/webhooks'),
    budgets: await lengthOf('/api/v1/budgets'),
  }
}

async function* pagesSince(hub: DemoHub, since: string): AsyncGenerator<Page> {
  let cursor: string | undefined
  do {
    const query = { created_at__gte: since, verify: true, limit: pageSize, cursor }
    const page = await hub.get<Page>('/api/v1/hub/records', query)
    yield page
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

/** Counts the records that verify with public keys alone. */
async function verifyOffline(baseUrl: string, records: JsonObject[]): Promise<number> {
  const response = await fetch(`${baseUrl}/.well-known/provenance-keys.json`)
  const keys = parseKeyDocument((await response.json()) as JsonObject, nodeCrypto.sha256)
  return verifyRecordsSync(records.map(itemOfResponse), keys, nodeCrypto).filter((result) => result.verified).length
}

function linksOf(baseUrl: string, summary: DemoSummary, also: AlsoStored): DemoLink[] {
  const { failing_skill, unused_skill, price_change, spend_jump } = summary
  const link = (what: string, path: string) => ({ what, url: `${baseUrl}${path}` })
  return [
    link(
      `Failing skill: ${failing_skill.skill_id} fails since yesterday with ${failing_skill.error_codes.join(' and ')}`,
      `/?range=7d&skill_id=${failing_skill.skill_id}`,
    ),
    link(`Unused skill: ${unused_skill.skill_id} is published, and nobody uses it`, '/?range=30d'),
    link(`No longer used: ${quietSkillId} is among the unused skills of the last 7 days`, '/?range=7d'),
    link(
      `Price change: ${price_change.model} costs less than list since ${price_change.since.slice(0, 10)}`,
      `/?range=30d&llm_model=${price_change.model}`,
    ),
    link(
      `Spend jump: ${spend_jump.archetype_id} moved to ${spend_jump.to_model} on ${spend_jump.since.slice(0, 10)}`,
      `/?range=30d&archetype_id=${spend_jump.archetype_id}&group_by=model`,
    ),
    link('Decisions, with the outputs and sources they rest on', '/records?record_type=decision'),
    link(
      `Also stored: ${counted(also.legal_holds, 'legal hold')}, ${counted(also.purged_records, 'purged record')}, ${counted(also.saved_views, 'saved view')}`,
      '/governance',
    ),
    link(`${counted(also.webhook_endpoints, 'webhook endpoint')}, with deliveries that fail`, '/webhooks'),
    link(`${counted(also.budgets, 'budget')}, with thresholds that are reached`, '/budgets'),
    link('Setup of the tenant, step by step', '/onboarding'),
  ]
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

/** @param withSettings completes a command for the local Hub; undefined for a remote Hub */
export function describeReport(report: DemoReport, withSettings: ((command: string) => string) | undefined): string {
  const count = (value: number) => value.toLocaleString('en')
  const money = (value: number) =>
    `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
  const { verification: verified, events, people, records } = report
  const rate = report.events_per_second === null ? '' : ` at ${count(report.events_per_second)} events/s`
  const parts = (counts: { written: number; found: number }) =>
    counts.found === 0
      ? `${count(counts.written)} written`
      : `${count(counts.written)} written, ${count(counts.found)} found from an earlier load`
  return [
    `Tenant      ${report.tenant}, ${report.starts_at.slice(0, 10)} to ${report.ends_at.slice(0, 10)} (${report.time_zone})`,
    `Telemetry   ${parts(events)}${rate}`,
    `People      ${parts(people)}`,
    `Records     ${parts(records)}`,
    `Verified    ${count(verified.verified)} of ${count(verified.checked)} records by the Hub: ${count(verified.tampered)} tampered, ${count(verified.cosign_invalid)} invalid cosignatures`,
    `            ${count(report.verified_offline)} of them a second time by this command, with public keys only`,
    `Cost        ${money(report.cost_usd_estimate)} reported, ${money(report.cost_usd_computed)} calculated (${count(report.unpriced)} events without a price)`,
    '',
    'Look at',
    ...report.look_at.flatMap(({ what, url }) =>
      report.base_url === null ? [`  ${what}`] : [`  ${what}`, `    ${url}`],
    ),
    '',
    ...closing(report, withSettings),
  ].join('\n')
}

function closing({ base_url, tenant }: DemoReport, withSettings: ((command: string) => string) | undefined): string[] {
  if (withSettings === undefined) return [`Sign in at ${base_url}/`]
  if (base_url === null) return [`Start the Hub to look at it: ${withSettings('npm start')}`]
  return [`Command center: ${base_url}/`, `Sign in: ${withSettings(`npm run hub -- tenant welcome-link ${tenant}`)}`]
}
