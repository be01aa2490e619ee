import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { pageSizeDefault } from '../../../contract/limits.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../http/cursor.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { entityTagOf } from './entity-tag.ts'
import type { RecordQuery } from './hub-schemas.ts'
import { answerOf, type ReadRecord, readRecords } from './record-answer.ts'
import { type RecordClock, recordIdFloor } from './record-clock.ts'
import { recordNotFound } from './record-errors.ts'
import { findPage } from './record-page-store.ts'
import type { PagePosition, RecordCriteria, RecordSort, StoredRecord, StoredSeal } from './record-query-types.ts'
import { findReleases } from './record-state-store.ts'
import { findLinks, findRecord, findSeals } from './record-store.ts'
import {
  type Evidence,
  failedChecks,
  summaryOf,
  type Verification,
  type VerificationSummary,
  verifyStored,
} from './record-verification.ts'
import { canSee, visibleTypes } from './record-visibility.ts'
import type { TamperReporter } from './tamper-reporter.ts'

export type RecordAnswer = Record<string, JsonValue>

interface RecordPageAnswer {
  records: RecordAnswer[]
  next_cursor: string | null
  verification_summary?: VerificationSummary
}

/** Record ids are in lower case, as they are stored. */
export interface RecordReading {
  query(caller: Caller, query: RecordQuery): Promise<RecordPageAnswer>
  get(caller: Caller, recordId: string, verify: boolean): Promise<{ record: RecordAnswer; etag: string }>
  verify(caller: Caller, recordId: string): Promise<Verification>
}

/** Records, and everything else that is stored about them and needed to answer. */
interface Snapshot extends Evidence {
  rows: StoredRecord[]
}

export function createRecordReading(deps: {
  database: Database
  clock: RecordClock
  keys: ProvenanceKeys
  cursorKey: Buffer
  tampering: TamperReporter
}): RecordReading {
  const { database, clock, keys, cursorKey, tampering } = deps

  /** Outside of any transaction. What fails is reported after the answer. */
  async function verifyAll(
    tenant: Tenant,
    records: readonly ReadRecord[],
    snapshot: Snapshot,
  ): Promise<Verification[]> {
    const needed = [...snapshot.seals.values()].map((seal) => seal.key_id)
    const keyRing = new Map((await keys.publicKeysOf(tenant.slug, needed)).map((key) => [key.keyId, key]))
    const verifications = verifyStored(records, snapshot, keyRing)
    tampering.report(
      tenant,
      verifications.flatMap((verification, i) =>
        verification.verified
          ? []
          : [{ recordId: records[i]!.row.record_id, failedChecks: failedChecks(verification) }],
      ),
    )
    return verifications
  }

  async function readOne(caller: Caller, recordId: string, verify: boolean) {
    const snapshot = await database.withTenant(
      caller.tenant.slug,
      async (tx) => {
        const row = await findRecord(tx, recordId, clock.next().createdAt)
        if (row === undefined || !canSee(caller.scopes, row.record_type)) throw recordNotFound(recordId)
        return gather(tx, [row], verify)
      },
      { readOnly: true },
    )
    const [record] = readRecords(snapshot.rows, snapshot.seals)
    const [verification] = verify ? await verifyAll(caller.tenant, [record!], snapshot) : []
    return { record: record!, verification, etag: entityTagOf(recordId, record!.row.revision ?? 0) }
  }

  return {
    async get(caller, recordId, verify) {
      const { record, verification, etag } = await readOne(caller, recordId, verify)
      return { record: withVerification(answerOf(record), verification), etag }
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
      if (criteria.recordTypes?.length === 0) return emptyPage(verify)
      const snapshot = await database.withTenant(
        tenant.slug,
        async (tx) => {
          const { records, hasMore } = await findPage(tx, criteria, { sort, limit, after, now: clock.next().createdAt })
          return { hasMore, ...(await gather(tx, records, verify)) }
        },
        { readOnly: true },
      )
      const records = readRecords(snapshot.rows, snapshot.seals)
      const verifications = verify ? await verifyAll(tenant, records, snapshot) : []
      const last = snapshot.rows.at(-1)
      return {
        records: records.map((record, i) => withVerification(answerOf(record), verifications[i])),
        next_cursor: snapshot.hasMore && last ? signCursor(cursorKey, binding, { ...positionOf(last, sort) }) : null,
        ...(verify ? { verification_summary: summaryOf(verifications) } : {}),
      }
    },
  }
}

/** Seals for the cosignatures, and what verification compares besides. */
async function gather(tx: TenantTx, rows: StoredRecord[], verify: boolean): Promise<Snapshot> {
  const seals: Map<string, StoredSeal> = await findSeals(tx, [...new Set(rows.map((row) => row.seal_id))])
  if (!verify) return { rows, seals, links: new Map(), releases: [] }
  const purgedEvents = rows.filter((row) => row.record_type === 'governance_event' && row.purged_at !== null)
  return {
    rows,
    seals,
    links: await findLinks(
      tx,
      rows.map((row) => row.record_id),
    ),
    releases: await findReleases(
      tx,
      purgedEvents.map((row) => row.record_id),
    ),
  }
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
  const criteria = {
    recordTypes: visibleTypes(caller.scopes, query.record_type),
    recordId: query.record_id?.toLowerCase(),
    skillId: query.skill_id,
    archetypeId: query.archetype_id,
    userId: query.user_id,
    createdBy: query.created_by,
    eventKind: query.event_kind,
    fromId: idBound('created_at__gte'),
    beforeId: idBound('created_at__lt'),
    includePurged: query.include_purged ?? false,
  }
  if (errors.length > 0) throw validationFailed(errors)
  return criteria
}

/** The page's size is not bound: a reader may change it on the way. */
function bindingOf(tenant: Tenant, query: RecordQuery): CursorBinding {
  const { cursor: _cursor, limit: _limit, ...parameters } = query
  const { sort = 'created_at', verify = false, include_purged = false } = query
  return { tenant: tenant.slug, operation: 'queryRecords', query: { ...parameters, sort, verify, include_purged } }
}

function positionOf(row: StoredRecord, sort: RecordSort): PagePosition {
  if (!sort.endsWith('cost_usd_estimate') || row.cost_micros === null) return { recordId: row.record_id }
  return { recordId: row.record_id, costMicros: row.cost_micros }
}

function withVerification(record: RecordAnswer, verification: Verification | undefined): RecordAnswer {
  return verification === undefined ? record : { ...record, verification: { ...verification } }
}

function emptyPage(verify: boolean): RecordPageAnswer {
  return { records: [], next_cursor: null, ...(verify ? { verification_summary: summaryOf([]) } : {}) }
}
