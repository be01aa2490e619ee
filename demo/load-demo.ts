import { people } from './company.ts'
import type { DemoApi, DemoOptions, DemoSummary } from './demo-api.ts'
import { eventsOf } from './events.ts'
import { addBudget } from './load/budgets.ts'
import { listAll, queryAll, type StoredRecord } from './load/lists.ts'
import { addArchetypes, addPrice, applyPacks, confirmTenant, readTenant } from './load/organisation.ts'
import { provisionPeople } from './load/people.ts'
import { createProgress } from './load/progress.ts'
import { governRecords, writeRecords } from './load/records.ts'
import { eventsPerUnit, sendEvents } from './load/telemetry.ts'
import { saveViews } from './load/views.ts'
import { discount, move } from './models.ts'
import { type DemoPeriod, periodEnding } from './period.ts'
import { demoRecords } from './records/records.ts'
import { failingSkill, unusedSkillId } from './skills.ts'
import { parseTrace } from './trace.ts'

/**
 * Loads the demo data into a tenant of Mode A through the public API. Needs every scope, as an administrator has. The
 * next load completes an interrupted one: it finds what is stored and writes the rest.
 *
 * @throws Error if the tenant is of another mode, or the Hub refuses an event
 */
export async function loadDemo(api: DemoApi, options: DemoOptions): Promise<DemoSummary> {
  const trace = parseTrace(options.traceCsv)
  const { step } = createProgress(
    {
      Organisation: 20,
      People: people.length + 6,
      Telemetry: trace.length / eventsPerUnit,
      Records: demoRecords.length,
      'Legal hold, budget and views': 9,
    },
    options.onProgress,
  )

  const marked = await step('Organisation', async () => {
    const details = await readTenant(api)
    const period = await markPeriod(api, options, trace.length)
    await confirmTenant(api, details)
    await addArchetypes(api)
    await applyPacks(api)
    await addPrice(api, period.period)
    await addWebhook(api)
    return period
  })
  const provisioned = await step('People', (progress) => provisionPeople(api, progress))
  const telemetry = await step('Telemetry', async (progress) => {
    const events = eventsOf(trace, marked.period)
    const stored = await storedRows(api, marked)
    const missing = events.filter(({ metadata }) => !stored.has(metadata.demo_row))
    progress.advance((events.length - missing.length) / eventsPerUnit)
    const began = performance.now()
    await sendEvents(api, missing, marked.period, progress)
    return { written: missing.length, found: events.length - missing.length, sendMs: performance.now() - began }
  })
  const { counts, stored } = await step('Records', (progress) => writeRecords(api, marked.writtenSince, progress))
  const views = await step('Legal hold, budget and views', async () => {
    await governRecords(api, stored)
    await addBudget(api, marked.period)
    return saveViews(api)
  })
  const { written, found, sendMs } = telemetry
  return {
    ...periodSummary(marked.period),
    written_since: marked.writtenSince,
    events: { written, found },
    send_seconds: sendMs / 1000,
    records: counts,
    people: provisioned,
    views,
  }
}

/** Returns the rows of the trace whose events are stored. */
async function storedRows(api: DemoApi, { isRepeat, writtenSince }: Marked): Promise<Set<number | undefined>> {
  if (!isRepeat) return new Set()
  const events = await queryAll(api, { record_type: 'telemetry_event', created_at__gte: writtenSince })
  return new Set(events.map(({ metadata }) => metadata?.demo_row))
}

function periodSummary({ startMs, endMs, timeZone, failingMs, priceMs, moveMs }: DemoPeriod) {
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    starts_at: iso(startMs),
    ends_at: iso(endMs),
    time_zone: timeZone,
    failing_skill: { skill_id: failingSkill.id, since: iso(failingMs), error_codes: [...failingSkill.errorCodes] },
    unused_skill: { skill_id: unusedSkillId },
    price_change: { platform: discount.model.platform, model: discount.model.model, since: iso(priceMs) },
    spend_jump: {
      archetype_id: move.archetypeId,
      since: iso(moveMs),
      from_model: move.from.model,
      to_model: move.to.model,
    },
  }
}

const markerTitle = 'Demo data: when it starts and ends, and what is made up'

interface MarkerContent {
  ends_at: string
  time_zone: string
}

/** The period of the demo, and the time since which its records are written. */
interface Marked {
  period: DemoPeriod
  writtenSince: string
  /** True if an earlier load has written the marker. */
  isRepeat: boolean
}

/** Finds or writes the record that stores the start and end of the demo. */
async function markPeriod(api: DemoApi, options: DemoOptions, invocations: number): Promise<Marked> {
  const artifacts = await queryAll(api, { record_type: 'artifact', include_purged: true })
  const marker = artifacts.find(({ title }) => title === markerTitle)
  if (marker) return { ...markedBy(marker), isRepeat: true }
  const { now = new Date(), timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone } = options
  const { record_id } = await api.post<{ record_id: string }>('/api/v1/hub/records', {
    body: markerBody(periodEnding(now, timeZone), invocations),
  })
  return { ...markedBy(await api.get<StoredRecord>(`/api/v1/hub/records/${record_id}`)), isRepeat: false }
}

function markedBy({ content, created_at }: StoredRecord): Omit<Marked, 'isRepeat'> {
  const { ends_at, time_zone } = content as MarkerContent
  return { period: periodEnding(new Date(ends_at), time_zone), writtenSince: created_at }
}

function markerBody({ startMs, endMs, timeZone }: DemoPeriod, invocations: number) {
  return {
    record_type: 'artifact',
    title: markerTitle,
    media_type: 'text/csv',
    uri: 'https://github.com/Azure/AzurePublicDataset',
    content: {
      starts_at: new Date(startMs).toISOString(),
      ends_at: new Date(endMs).toISOString(),
      time_zone: timeZone,
      invocations,
      source: 'Azure LLM Inference Dataset 2023, conversation trace, CC-BY 4.0: one hour, laid over 30 days',
      recorded: ['order', 'spacing within a quarter of an hour', 'tokens_in', 'tokens_out'],
      made_up: [
        ...['company', 'people', 'skills', 'platforms', 'models', 'success', 'error codes', 'latency', 'cost'],
        ...['sessions', 'traces', 'days and hours', 'outputs', 'artifacts', 'decisions'],
      ],
    },
  }
}

/** RFC 2606 reserves the name: deliveries are retried and then fail, as with an endpoint that is down. */
const url = 'https://hooks.demo.example/hub'

/**
 * Adds the endpoint of the demo. Runs before the telemetry, so that the failures of one skill become deliveries: up to 150,
 * not thousands.
 */
async function addWebhook(api: DemoApi): Promise<void> {
  const path = '/api/v1/webhooks'
  const present = await listAll<{ url: string }>(api, path)
  if (present.some((endpoint) => endpoint.url === url)) return
  await api.post(path, {
    body: {
      url,
      description: 'On-call channel of Support',
      events: ['skill.invocation_failed', 'governance.hub.legal_hold_applied', 'governance.hub.record_purged'],
      filters: { skill_ids: [failingSkill.id] },
    },
  })
}
