import type { LinkedCheckpoint } from '../../../../provenance/evidence-pack.ts'
import type { KeyDocumentEntry } from '../../../../provenance/index.ts'
import type { Tenant } from '../../../http/caller.ts'
import { type Html, html } from '../../../http/page.ts'
import type { ScanResult } from '../../integrity-sweep/sweep-types.ts'
import type { RetentionRules } from '../../retention/retention-types.ts'
import type { LogIndexRange } from '../../sealing/sealed-records-types.ts'
import type { ExportRequest } from '../exports-types.ts'
import type { PackPeriod } from './evidence-store.ts'
import type { writePackLists } from './pack-lists.ts'
import { type ListedEvent, listedMax } from './period-rows.ts'
import type { Usage } from './usage-tally.ts'

type EventGroup = 'signIns' | 'configuration' | 'retentionChanges'

export interface PackFacts {
  tenant: Tenant
  order: ExportRequest
  period: PackPeriod
  rows: number
  leftOut: number
  span: LogIndexRange
  treeSize: number
  before: LinkedCheckpoint | null
  after: LinkedCheckpoint | null
  usage: Usage
  verification: ScanResult & { started_at: string }
  retention: RetentionRules
  lists: Awaited<ReturnType<typeof writePackLists>>
  events: Record<EventGroup, readonly ListedEvent[]>
  eventCounts: Record<EventGroup, number>
  keys: readonly KeyDocumentEntry[]
}

type Cell = string | number | Html

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c2024}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}th,td{border:1px solid #c8ced4;padding:.25rem .5rem;
text-align:left;vertical-align:top;overflow-wrap:anywhere}th{background:#f1f3f5}h2{margin-top:2rem}
.bad{color:#a40000;font-weight:600}code{overflow-wrap:anywhere}@media print{body{margin:0}}`

/** Returns the report of a pack: one page without scripts, which escapes every value. */
export function packReport(facts: PackFacts): string {
  const { tenant, order, period } = facts
  const title = `Evidence pack of ${tenant.slug}`
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>${title}</title><style>STYLE</style></head><body>
<h1>${title}</h1>
${table(
  ['Fact', 'Value'],
  [
    ['Period', `${period.from} to ${period.to} (exclusive)`],
    ['Purpose', order.pack?.note ?? '(no note)'],
    ['Requested', `${order.createdAt} by ${order.createdBy}`],
    ['Pack', order.jobId],
    ['Content of records', contentText(facts)],
  ],
)}
<p>This page summarises the pack and proves nothing by itself. To check all files without the Hub, run
<code>hub verify ${order.jobId}.tar.gz --keys provenance-keys.json</code> with the public keys of the Hub, which you
got apart from this pack (<code>/.well-known/provenance-keys.json</code>).</p>
${completeness(facts)}${verification(facts)}${usage(facts)}${governance(facts)}${events(facts)}
</body></html>
`
  return page.text.replace('STYLE', style)
}

function contentText({ order, usage, tenant }: PackFacts): string {
  const count = usage.records_without_content
  const without = `${count} records have their hash and proof without content`
  if (!order.pack?.includeContent) return `left out on request: ${without}`
  if (count > 0) return `included, except where the key of the tenant was destroyed: ${without}`
  return tenant.mode === 'C' ? 'included, as far as the Hub has it: content stays at the tenant (Mode C)' : 'included'
}

function completeness({ rows, leftOut, span, treeSize, before, after, lists, keys }: PackFacts): Html {
  return html`<h2>Records and log</h2>
${table(
  ['Fact', 'Value'],
  [
    ['Records of the period', rows],
    ['Records in these log entries that are left out', `${leftOut}: outside of the period, purged or erased`],
    ['Purged and not erased', lists.purged.count],
    ['Deletion certificates', lists.certificates.count],
    ['Log entries', `${span.from} to ${span.to} (exclusive) of ${treeSize}`],
    [
      'Checkpoint from before the period',
      before ? code(before.checkpoint) : span.from === 0 ? 'none: the log begins in the period' : 'none is stored',
    ],
    ['Checkpoint from after the period', after ? code(after.checkpoint) : 'the one of the pack'],
  ],
)}
<h3>Keys</h3>
${table(
  ['Key', 'Created', 'Retired', 'Introduced by the key before'],
  keys.map((key) => [
    key.key_id,
    key.created_at,
    key.retired_at ?? '',
    key.succession === undefined ? 'first key' : 'yes',
  ]),
)}`
}

function verification({ verification: { started_at, checked, failed, inconsistent } }: PackFacts): Html {
  const isGood = failed === 0 && inconsistent === 0
  const result = isGood
    ? html`nothing wrong was found`
    : html`<span class="bad">something is wrong: see the tamper alerts of the Hub</span>`
  return html`<h2>Full verification by the Hub</h2>
${table(
  ['Fact', 'Value'],
  [
    ['Started', started_at],
    ['Result', result],
    ['Records verified, of all times', checked],
    ['Records that failed', failed],
    ['Inconsistent entries, seals and states', inconsistent],
  ],
)}`
}

function usage({ usage: { records, telemetry, by_skill, by_model } }: PackFacts): Html {
  const headings = ['Invocations', 'Failed', 'Tokens in', 'Tokens out', 'Reported cost (USD)', 'Calculated cost (USD)']
  const cells = (counts: typeof telemetry): Cell[] => [
    ...[counts.invocations, counts.failed, counts.tokens_in, counts.tokens_out],
    ...[usd(counts.reported_cost_usd_micros), usd(counts.calculated_cost_usd_micros)],
  ]
  const rows = (list: typeof by_skill) => list.slice(0, listedMax).map((row) => [row.key, ...cells(row)])
  return html`<h2>Usage</h2>
${table(['Record type', 'Records'], Object.entries(records))}
<h3>AI invocations</h3>${table(headings, [cells(telemetry)])}
<h3>By skill</h3>${table(['Skill', ...headings], rows(by_skill))}
<h3>By model</h3>${table(['Model', ...headings], rows(by_model))}`
}

function usd(micros: number): string {
  return (micros / 1e6).toFixed(2)
}

function governance({ retention, lists: { holds, certificates, purged, people } }: PackFacts): Html {
  return html`<h2>Retention and legal holds</h2>
<p>Four eyes: ${retention.four_eyes ? 'required' : 'not required'}. A record type without a rule is kept.</p>
${table(
  ['Record type', 'Kept at least (days)', 'Purged after (days)'],
  retention.rules.map((rule) => [rule.record_type, rule.min_days ?? '', rule.max_days ?? '']),
)}
<h3>Legal holds in force in the period</h3>${listed(holds.count, 'holds.jsonl')}
${table(
  ['Hold', 'Reason', 'Placed', 'By', 'Released'],
  holds.listed.map((hold) => [
    hold.name,
    hold.reason,
    hold.created_at,
    hold.created_by,
    hold.released_at ?? 'in force',
  ]),
)}
<h3>Erased records</h3>${listed(certificates.count, 'deletion-certificates.jsonl')}
${table(
  ['Record', 'Type', 'Erased', 'Reason'],
  certificates.listed.map((row) => [row.record_id, row.record_type, row.erased_at, row.purge_reason]),
)}
<h3>Purged records</h3>${listed(purged.count, 'purged-records.jsonl')}
${table(
  ['Record', 'Type', 'Purged', 'By', 'Reason'],
  purged.listed.map((row) => [
    row.record_id,
    row.record_type,
    row.purged_at,
    row.purged_by ?? '',
    row.purge_reason ?? '',
  ]),
)}
<h2>People</h2><p>People have opaque ids. The organisation knows whose they are.</p>${listed(people.count, 'people.jsonl')}
${table(
  ['Person', 'Role', 'State', 'Archetypes'],
  people.listed.map((row) => [
    row.user_id,
    row.role,
    row.active ? 'active' : 'deactivated',
    row.archetype_ids.join(', '),
  ]),
)}`
}

function events({ events: found, eventCounts }: PackFacts): Html {
  const part = (
    heading: string,
    group: EventGroup,
    file: string,
  ) => html`<h2>${heading}</h2>${listed(eventCounts[group], file)}
${table(
  ['Time', 'Event', 'Subject', 'Actor'],
  found[group].map(({ at, kind, subject, actor }) => [at, kind, subject, actor]),
)}`
  return html`${part('Changes of retention rules', 'retentionChanges', 'retention-changes.jsonl')}
${part('Sign-ins and access', 'signIns', 'sign-ins.jsonl')}
${part('Changes of settings', 'configuration', 'configuration.jsonl')}`
}

function listed(count: number, file: string): Html {
  const rest = count > listedMax ? `; the first ${listedMax} are listed here, and all are in ${file}` : ` (${file})`
  return html`<p>Number: ${count}${rest}.</p>`
}

function code(text: string): Html {
  return html`<code>${text}</code>`
}

function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  if (rows.length === 0) return html`<p>None.</p>`
  return html`<table><thead><tr>${headings.map((heading) => html`<th>${heading}</th>`)}</tr></thead><tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table>`
}
