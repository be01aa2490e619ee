import { recoveryPeriodDays } from '../../contract/limits.ts'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { canonicalize, type JsonObject } from '../../provenance/index.ts'
import { readEvent } from '../../server/modules/telemetry/ingest/event-check.ts'
import { envelopeNames } from '../../server/modules/telemetry/telemetry-schemas.ts'
import type { HubSession } from './hub-session.ts'
import type { SpooledBatch } from './spool-batches.ts'

/** Margin around the time of a request within which its records are searched. */
const searchMarginMs = 15 * 60_000
/** Maximum number of pages that are searched for one batch; beyond that, a person decides. */
const searchPagesMax = 1000

/** The result of searching the Hub's records for a batch. */
type Finding = { kind: 'there' } | { kind: 'absent' } | { kind: 'undecided'; reason: string }

/**
 * Searches the Hub for the events of a batch that was sent without a response, longer ago than the Hub keeps
 * idempotency keys. The Hub stores a batch in one transaction, except for refused events. Finding all or none of the
 * events therefore decides.
 *
 * @throws QueryFailed if the Hub does not respond
 */
export async function findBatch(session: HubSession, batch: SpooledBatch): Promise<Finding> {
  const { doubt, events } = batch
  if (doubt === undefined) return { kind: 'absent' }
  if (!session.mayRead) {
    return undecided(
      'the service account may not read telemetry back (scope telemetry:read), so the Hub cannot be asked',
    )
  }
  // Purged records remain searchable for this long. After that, absence proves nothing.
  if (session.hubNowMs() - doubt.sinceMs > (recoveryPeriodDays - 1) * 86_400_000) {
    return undecided('it was sent so long ago that its records may have been erased since')
  }
  const missing = new Map<string, number>()
  for (const event of events) {
    const print = fingerprintOfEvent(event)
    missing.set(print, (missing.get(print) ?? 0) + 1)
  }
  let found = 0
  let cursor: string | undefined
  for (let page = 0; ; page++) {
    if (page === searchPagesMax) return undecided('the Hub has too many records of that time to look through')
    const { records, next_cursor } = await session.query({
      record_type: 'telemetry_event',
      created_by: doubt.clientId,
      created_at__gte: formatTimestamp(doubt.sinceMs - searchMarginMs),
      created_at__lt: formatTimestamp(doubt.untilMs + searchMarginMs),
      include_purged: 'true',
      limit: '1000',
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const record of records) {
      const print = fingerprintOfRecord(record as JsonObject)
      const left = missing.get(print) ?? 0
      if (left > 0) {
        missing.set(print, left - 1)
        found++
      }
    }
    if (next_cursor === null) break
    cursor = next_cursor
  }
  if (found === 0) return { kind: 'absent' }
  if (found === events.length) return { kind: 'there' }
  return undecided(`the Hub has records like ${found} of its ${events.length} events`)
}

function undecided(reason: string): Finding {
  return { kind: 'undecided', reason }
}

/**
 * Returns an event in the form of its record: times in UTC, costs rounded, `error_code: null` omitted, ids in lower
 * case.
 */
function fingerprintOfEvent(text: string): string {
  const reading = readEvent(JSON.parse(text), Number.MAX_SAFE_INTEGER)
  if (Array.isArray(reading)) throw new Error('an event in the spool does not pass the check that it passed before')
  return canonicalize({ ...reading.fields, related_records: reading.relatedRecords ?? [] })
}

function fingerprintOfRecord(record: JsonObject): string {
  return canonicalize(Object.fromEntries(Object.entries(record).filter(([name]) => envelopeNames.has(name))))
}
