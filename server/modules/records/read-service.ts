import { setImmediate } from 'node:timers/promises'
import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { eventFilterIn, eventFilterTypes } from '../../../contract/event-filter.ts'
import { pageSizeDefault, pageSizeMax } from '../../../contract/limits.ts'
import { canSee, visibleTypes } from '../../../contract/record-visibility.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import { readTenant } from '../../db/database.ts'
import { isErased } from '../../db/record-encryption.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../http/cursor.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { recordIdFloor } from '../../records/record-clock.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import { responseText } from '../../records/record-response.ts'
import type { AnsweredRecord } from '../../records/record-rows.ts'
import { findRecord } from '../../records/record-store.ts'
import type { StoredVerification, Verification, VerificationSummary } from '../verification/verification-types.ts'
import { entityTagOf } from './entity-tag.ts'
import { findPage, findWholePage, pageMode } from './record-page-store.ts'
import { createPageTurns } from './record-page-turns.ts'
import type { PagePosition, PageRequest, RecordCriteria } from './record-query-types.ts'
import type { RecordQuery } from './records-schemas.ts'
import { withUnavailable } from './unavailable-content.ts'

/** Reads records. Record ids are in lower case, as stored. Responses are JSON texts, built from the stored ones. */
export interface RecordReading {
  query(caller: Caller, query: RecordQuery): Promise<string>
  /**
   * Returns a record. `verified` is present if verification was requested. If the content is gone, the entity tag does
   * not reflect that.
   */
  get(
    caller: Caller,
    recordId: string,
    verify: boolean,
  ): Promise<{ record: string; etag: string; verified?: boolean; isContentGone: boolean }>
  verify(caller: Caller, recordId: string): Promise<Verification>
}

export function createRecordReading(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'cursorKey'> & { verification: StoredVerification },
): RecordReading {
  const { database, clock, cursorKey, verification } = deps
  const turns = createPageTurns()

  async function readOne(caller: Caller, recordId: string, verify: boolean) {
    const { row, isContentGone, check } = await readTenant(
      database,
      caller.tenant.slug,
      async (tx) => {
        const row = await findRecord(tx, recordId, clock.next().createdAt)
        if (row === undefined || !canSee(caller.scopes, row.record_type)) throw recordNotFound(recordId)
        const isContentGone = isErased(tx, row.canonical)
        const [answered = row] = isContentGone ? await withUnavailable(tx, [row]) : []
        const check = verify ? await verification.prepare(tx, caller.tenant, [row]) : undefined
        return { row: answered, isContentGone, check }
      },
      { snapshot: verify },
    )
    return { row, isContentGone, verification: check && (await check())[0] }
  }

  async function readPage(tenant: Tenant, criteria: RecordCriteria, page: PageRequest) {
    const { found, answered } = await database.withTenant(
      tenant.slug,
      async (tx) => {
        const found = await findPage(tx, criteria, page)
        return { found, answered: await withUnavailable(tx, found.records) }
      },
      // A scan finds ids first and reads their records afterwards: in between, a record may be purged.
      { ...pageMode, onReplica: true, snapshot: criteria.event !== undefined },
    )
    return { ...found, texts: await textsOf(tenant, answered), summary: undefined }
  }

  async function readVerified(tenant: Tenant, criteria: RecordCriteria, page: PageRequest) {
    const { found, answered, check } = await database.withTenant(
      tenant.slug,
      async (tx) => {
        const found = await findWholePage(tx, criteria, page)
        const answered = await withUnavailable(tx, found.records)
        return { found, answered, check: await verification.prepare(tx, tenant, found.records) }
      },
      { ...pageMode, snapshot: true },
    )
    const [verifications, answers] = await Promise.all([
      check(),
      // Runs while other threads verify.
      setImmediate().then(() => textsOf(tenant, answered)),
    ])
    const texts = answers.map((answer, at) => withVerification(answer, verifications[at]!))
    return { ...found, texts, summary: summaryOf(verifications) }
  }

  return {
    async get(caller, recordId, verify) {
      const { row, isContentGone, verification } = await readOne(caller, recordId, verify)
      const answer = responseText(caller.tenant.slug, row)
      return {
        record: verification ? withVerification(answer, verification) : answer,
        etag: entityTagOf(recordId, row.revision ?? 0),
        ...(verification && { verified: verification.verified }),
        isContentGone,
      }
    },

    async verify(caller, recordId) {
      const { verification } = await readOne(caller, recordId, true)
      return verification!
    },

    async query(caller, query) {
      const { tenant } = caller
      const { limit = pageSizeDefault, cursor, sort = 'created_at', verify = false } = query
      const criteria = criteriaOf(query, caller)
      const binding = bindingOf(tenant, query)
      const after =
        cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as unknown as PagePosition)
      const page = { sort, limit, after, now: clock.next().createdAt }
      if (criteria.recordTypes?.length === 0) return pageText([], null, verify ? summaryOf([]) : undefined)
      // A page that is scanned for is as much work as a large one.
      const weight = criteria.event ? pageSizeMax : limit
      const { next, texts, summary } = await turns.take(tenant, weight, async () =>
        verify ? readVerified(tenant, criteria, page) : readPage(tenant, criteria, page),
      )
      const text = pageText(texts, next ? signCursor(cursorKey, binding, { ...next }) : null, summary)
      // Joining the records of a large page and encoding them for the connection take 20 ms each.
      if (text.length > largeTextLength) await setImmediate()
      return text
    },
  }
}

/** Characters of a page's text. */
const largeTextLength = 1024 * 1024

/** Yields now and then: to parse the texts of a large page takes 50 ms and more. */
async function textsOf({ slug }: Tenant, records: readonly AnsweredRecord[]): Promise<string[]> {
  const yieldIfLong = createEventLoopYielder()
  const texts: string[] = []
  for (const record of records) {
    texts.push(responseText(slug, record))
    await yieldIfLong()
  }
  return texts
}

function pageText(
  records: readonly string[],
  nextCursor: string | null,
  summary: VerificationSummary | undefined,
): string {
  const verified = summary ? `,"verification_summary":${JSON.stringify(summary)}` : ''
  return `{"records":[${records.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}${verified}}`
}

function criteriaOf(query: RecordQuery, caller: Caller): RecordCriteria {
  const errors: PointedError[] = []
  const idBound = (name: 'created_at__gte' | 'created_at__lt') => {
    const text = query[name]
    if (text === undefined) return undefined
    const time = parseTimestamp(text)
    if (time !== undefined) return recordIdFloor(time.epochMs, time.microsOfMs)
    errors.push({ pointer: `/query/${name}`, detail: 'must be an RFC 3339 timestamp; a `+` is written %2B in a query' })
    return undefined
  }
  const event = eventFilterIn(query)
  const visible = visibleTypes(caller.scopes, query.record_type)
  const criteria = {
    recordTypes: event ? eventFilterTypes(event).filter((type) => visible?.includes(type) ?? true) : visible,
    event,
    recordId: query.record_id?.toLowerCase(),
    skillId: query.skill_id,
    archetypeId: query.archetype_id,
    userId: query.user_id,
    createdBy: query.created_by,
    eventKind: query.event_kind,
    traceId: query.trace_id,
    sessionId: query.session_id,
    fromId: idBound('created_at__gte'),
    beforeId: idBound('created_at__lt'),
    includePurged: query.include_purged ?? false,
  }
  if (errors.length > 0) throw validationFailed(errors)
  return criteria
}

/** Returns the binding of a cursor. The page size is not bound, so clients may change it between pages. */
function bindingOf(tenant: Tenant, query: RecordQuery): CursorBinding {
  const { cursor: _cursor, limit: _limit, ...parameters } = query
  const { sort = 'created_at', verify = false, include_purged = false } = query
  return { tenant: tenant.slug, operation: 'queryRecords', query: { ...parameters, sort, verify, include_purged } }
}

/** Returns the response with its verification as an additional member. */
function withVerification(answer: string, verification: Verification): string {
  return `${answer.slice(0, -1)},"verification":${JSON.stringify(verification)}}`
}

/**
 * Counts the results. A record can be both tampered with and badly cosigned; an unsupported schema version alone is
 * neither.
 */
function summaryOf(verifications: readonly Verification[]): VerificationSummary {
  const count = (test: (verification: Verification) => boolean) => verifications.filter(test).length
  return {
    checked: verifications.length,
    verified: count(({ verified }) => verified),
    tampered: count(({ checks }) => !checks.provenance_hash_matches || !checks.no_active_legal_hold_violation),
    cosign_invalid: count(({ checks }) => !checks.provenance_cosign_valid),
  }
}
