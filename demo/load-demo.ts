import { people } from './company.ts'
import type { DemoApi, DemoOptions, DemoSummary } from './demo-api.ts'
import { eventsOf } from './events.ts'
import { queryAll } from './load/lists.ts'
import { type Marked, markPeriod } from './load/marker.ts'
import { addArchetypes, addPrice, applyPacks, confirmTenant, readTenant } from './load/organisation.ts'
import { provisionPeople } from './load/people.ts'
import { createProgress } from './load/progress.ts'
import { governRecords, writeRecords } from './load/records.ts'
import { eventsPerUnit, sendEvents } from './load/telemetry.ts'
import { saveViews } from './load/views.ts'
import { addWebhook } from './load/webhook.ts'
import { discount, move } from './models.ts'
import type { DemoPeriod } from './period.ts'
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
      'Legal hold and views': 6,
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
  const views = await step('Legal hold and views', async () => {
    await governRecords(api, stored)
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
