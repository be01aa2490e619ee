import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { pageSizeDefault, recordsResponseBytesMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { sealSizeMax } from '../../../provenance/index.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { LogEntryPlace, LogEntryRecords, Viewer } from '../records/log-entry-records-types.ts'
import type { EntriesQuery } from './log-schemas.ts'

/** Maximum number of entries that one call reads, visible or not. Each entry has up to 64 records. */
const entriesPerCallMax = 1000
/** Number of entries that are read together. It starts low, because they may have many records. */
const entriesAtOnce = { first: 8, most: 256 }

export type LogFeed = ReturnType<typeof createLogFeed>

/** Lists the records in log order. */
export function createLogFeed(
  deps: Pick<ModuleParts, 'database' | 'logs' | 'clock' | 'cursorKey'> & { records: LogEntryRecords },
) {
  const { database, logs, records, clock, cursorKey } = deps

  return {
    /** Returns the response of `listLogEntries` as JSON. Throws DomainError `validation-failed` and `invalid-cursor`. */
    async follow({ tenant, scopes }: Caller, query: EntriesQuery): Promise<string> {
      const binding = { tenant: tenant.slug, operation: 'listLogEntries', query: {} }
      const begin = beginningOf(query, cursorKey, binding)
      await logs.integrate(tenant)
      // A snapshot, so that a record erased meanwhile is neither lost nor listed twice.
      return readTenant(
        database,
        tenant.slug,
        async (tx) => {
          const end = ((await logs.head(tx))?.treeSize ?? 0) * sealSizeMax
          const viewer = { scopes, now: clock.next().createdAt }
          const after = typeof begin === 'number' ? begin : await positionOfRecord(tx, viewer, begin.recordId)
          if (after > end) throw beyondTheLog(query, end)
          const { places, at } = await look(tx, viewer, { after, end, limit: query.limit ?? pageSizeDefault })
          const answers = await records.answers(tx, places, viewer)
          const items = places.map((place) => itemText(place, answers.get(place.recordId)))
          const next = at < end ? JSON.stringify(signCursor(cursorKey, binding, at)) : 'null'
          return `{"items":[${items.join(',')}],"next_cursor":${next},"last_position":${at}}`
        },
        { snapshot: true },
      )
    },
  }

  async function positionOfRecord(tx: TenantTx, viewer: Viewer, recordId: string): Promise<number> {
    const place = await records.sealPlaceOf(tx, recordId, viewer)
    const entry = place && (await logs.entryOf(tx, place.sealId))
    if (place === undefined || entry === undefined) {
      const detail = 'is not a record in the log of this tenant that the token can read'
      throw validationFailed([{ pointer: '/query/after', detail }])
    }
    return positionAt({ logIndex: entry.logIndex, leafIndex: place.leafIndex })
  }

  /** Returns the places behind a position that fit the page, and the position up to which all entries were read. */
  async function look(
    tx: TenantTx,
    viewer: Viewer,
    page: { after: number; end: number; limit: number },
  ): Promise<{ places: LogEntryPlace[]; at: number }> {
    const places: LogEntryPlace[] = []
    let at = page.after
    let bytes = 0
    let looked = 0
    for (
      let count = entriesAtOnce.first;
      at < page.end && places.length < page.limit && looked < entriesPerCallMax;
      count = Math.min(2 * count, entriesAtOnce.most, entriesPerCallMax - looked)
    ) {
      const entries = await logs.entries(tx, Math.floor(at / sealSizeMax), count)
      for (const place of await records.places(tx, entries, viewer)) {
        if (positionAt(place) <= at) continue
        bytes += place.bytes
        const isFull = places.length === page.limit || (bytes > recordsResponseBytesMax && places.length > 0)
        if (isFull) return { places, at: positionAt(place) - 1 }
        places.push(place)
      }
      looked += entries.length
      // Skips deleted entries instead of waiting for them.
      const last = entries.at(-1)
      at = last === undefined ? page.end : (last.logIndex + 1) * sealSizeMax
    }
    return { places, at }
  }
}

/** Returns the position of a place, from 1 on, so that 0 precedes all. */
function positionAt({ logIndex, leafIndex }: Pick<LogEntryPlace, 'logIndex' | 'leafIndex'>): number {
  return logIndex * sealSizeMax + leafIndex + 1
}

/**
 * Returns the position or the record behind which to begin. A cursor takes precedence over `after`, so that a client
 * may keep its query and add a cursor.
 */
function beginningOf(
  { after, cursor }: EntriesQuery,
  key: Buffer,
  binding: CursorBinding,
): number | { recordId: string } {
  if (cursor !== undefined) return openCursor(key, binding, cursor) as number
  const text = String(after ?? '')
  if (/^(?:0|[1-9]\d*)?$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER) return Number(text)
  if (new RegExp(patterns.uuid).test(text)) return { recordId: text.toLowerCase() }
  try {
    return openCursor(key, binding, text) as number
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const detail = 'must be a position, the record_id of a record in the log, or a next_cursor of this feed'
    throw validationFailed([{ pointer: '/query/after', detail }])
  }
}

/**
 * Returns the error for a position beyond the log. Waiting until the log reaches it would skip the entries until then.
 */
function beyondTheLog({ cursor }: EntriesQuery, end: number) {
  const detail =
    `is beyond the end of the log, ${end}. If the service returned this position earlier, the log was rolled back: ` +
    'compare its checkpoint with one that you kept'
  return validationFailed([{ pointer: cursor === undefined ? '/query/after' : '/query/cursor', detail }])
}

function itemText(place: LogEntryPlace, record: string | undefined): string {
  const { logIndex, leafIndex, sealId, recordId } = place
  const members = `"position":${positionAt(place)},"log_index":${logIndex},"leaf_index":${leafIndex},"seal_id":"${sealId}","record_id":"${recordId}"`
  return record === undefined ? `{${members},"erased":true}` : `{${members},"record":${record}}`
}
