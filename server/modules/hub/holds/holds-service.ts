import { DomainError, invalidTenant, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { filterHoldsMax, holdRecordsAnswered } from '../../../../contract/limits.ts'
import { normaliseFilter, type RecordFilter } from '../../../../contract/record-filter.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openCursor, signCursor } from '../../../http/cursor.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import { momentAfter } from '../later-moment.ts'
import type { RecordClock } from '../record-clock-types.ts'
import { findRecordIds } from '../record-store.ts'
import { fourEyesDetails } from '../retention/proven-retention.ts'
import type { ToldEvents } from '../told-events.ts'
import { freeze, type HoldScope, resume } from './buffers.ts'
import { appliedDetails, appliedKind, releasedDetails, releasedKind, tellsOfEnd } from './hold-events.ts'
import type { PlaceHoldBody } from './holds-schemas.ts'
import {
  countFilterHolds,
  findHold,
  type HoldRow,
  holdsAfter,
  insertHold,
  markReleased,
  recordIdsOf,
  takeHoldsLock,
} from './holds-store.ts'
import type { HoldCheck } from './holds-types.ts'
import { filterOf } from './stored-filter.ts'

export interface HoldAnswer {
  hold_id: string
  name: string
  reason: string
  active: boolean
  record_count?: number
  filter?: RecordFilter
  created_at: string
  created_by: string
  released_at?: string
  released_by?: string
  release_reason?: string
}

/** Legal holds. Ids are in lower case, as they are stored. */
export interface Holds {
  /**
   * Places a hold, and freezes the recovery buffers of what it is over.
   *
   * @throws DomainError `validation-failed` for records that are not there, `invalid-tenant` for a filter of another tenant
   */
  place(caller: Caller, body: PlaceHoldBody): Promise<HoldAnswer>
  list(
    tenant: Tenant,
    filter: { active?: boolean },
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: HoldAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, holdId: string): Promise<HoldAnswer & { record_ids?: string[] }>
  /** Repeated, it answers the same and changes nothing. */
  release(caller: Caller, holdId: string, reason: string): Promise<HoldAnswer>
}

export function createHolds(deps: {
  database: Database
  clock: RecordClock
  governance: GovernanceLog
  holds: HoldCheck
  told: ToldEvents
  cursorKey: Buffer
}): Holds {
  const { database, clock, governance, holds, told, cursorKey } = deps

  /** One that somebody has ended in the database is in force still, and can be released. */
  async function hasEnded(tx: TenantTx, hold: HoldRow): Promise<boolean> {
    if (hold.released_at === null) return false
    const events = await told.find(tx, [hold.release_event_id])
    return tellsOfEnd(events.get(hold.release_event_id ?? ''), hold)
  }

  return {
    async place(caller, body) {
      const { tenant } = caller
      const scope = scopeOf(tenant, body)
      return database.withTenant(tenant.slug, async (tx) => {
        await takeHoldsLock(tx)
        const { recordId: hold_id, createdAt: now, micros } = clock.next()
        if ('recordIds' in scope) await requireRecords(tx, scope.recordIds, now)
        else await requireRoom(tx)
        const latestPurge = await freeze(tx, scope, now)
        const hold: HoldRow = {
          hold_id,
          name: body.name,
          reason: body.reason,
          filter: 'filter' in scope ? scope.filter : null,
          record_count: 'recordIds' in scope ? scope.recordIds.length : null,
          created_at: momentAfter(micros, [latestPurge]).text,
          created_by: caller.subject,
          released_at: null,
          released_by: null,
          release_reason: null,
          event_id: null,
          release_event_id: null,
        }
        const recordIds = 'recordIds' in scope ? scope.recordIds : []
        const event = await governance.append(tx, tenant, {
          kind: appliedKind,
          subject: `hold:${hold_id}`,
          details: appliedDetails(hold, recordIds),
          actor: caller,
        })
        await insertHold(tx, { ...hold, event_id: event.recordId }, recordIds)
        return answerOf(hold)
      })
    },

    async list(tenant, { active }, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listHolds', query: { active } }
      const after = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as string)
      const rows = await database.withTenant(tenant.slug, (tx) => holdsAfter(tx, active, after, limit + 1), {
        readOnly: true,
        inIndexOrder: true,
      })
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return {
        items: rows.slice(0, limit).map(answerOf),
        next_cursor: last ? signCursor(cursorKey, binding, last.hold_id) : null,
      }
    },

    get: (tenant, holdId) =>
      database.withTenant(
        tenant.slug,
        async (tx) => {
          const hold = await existing(tx, holdId)
          if (hold.filter !== null) return answerOf(hold)
          return { ...answerOf(hold), record_ids: await recordIdsOf(tx, holdId, undefined, holdRecordsAnswered) }
        },
        { readOnly: true },
      ),

    release(caller, holdId, reason) {
      const { tenant } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        await takeHoldsLock(tx)
        const hold = await existing(tx, holdId)
        if (await hasEnded(tx, hold)) return answerOf(hold)
        const { text: now } = momentAfter(clock.next().micros, [hold.created_at])
        const release = { released_at: now, released_by: caller.subject, release_reason: reason }
        const released = { ...hold, ...release }
        await resume(tx, { hold_id: holdId, ...(await storedScope(tx, hold)) }, now, holds)
        const event = await governance.append(tx, tenant, {
          kind: releasedKind,
          subject: `hold:${holdId}`,
          details: { ...releasedDetails(released), ...(await fourEyesDetails(tx, told)) },
          actor: caller,
        })
        await markReleased(tx, holdId, { ...release, release_event_id: event.recordId })
        return answerOf(released)
      })
    },
  }
}

function scopeOf({ slug }: Tenant, { record_ids, filter }: PlaceHoldBody): HoldScope {
  if ((record_ids === undefined) === (filter === undefined)) {
    const detail = record_ids
      ? 'cannot stand beside record_ids: a hold is over named records, or over all that match a filter'
      : 'is missing, and so is filter: a hold needs one of the two'
    throw validationFailed([{ pointer: record_ids ? '/filter' : '/record_ids', detail }])
  }
  if (filter !== undefined) {
    if (filter.tenant_id !== undefined && filter.tenant_id !== slug) throw invalidTenant(filter.tenant_id)
    return { filter: normaliseFilter(filter, '/filter') }
  }
  const recordIds = record_ids!.map((id) => id.toLowerCase())
  const seen = new Set<string>()
  const errors = recordIds.flatMap((id, at): PointedError[] => {
    if (seen.has(id)) return [{ pointer: `/record_ids/${at}`, detail: 'is there twice' }]
    seen.add(id)
    return []
  })
  if (errors.length > 0) throw validationFailed(errors)
  return { recordIds }
}

async function requireRecords(tx: TenantTx, recordIds: readonly string[], now: string): Promise<void> {
  const known = await findRecordIds(tx, recordIds, now)
  const errors = recordIds.flatMap((id, at): PointedError[] =>
    known.has(id) ? [] : [{ pointer: `/record_ids/${at}`, detail: 'is no record of this tenant, or one that is gone' }],
  )
  if (errors.length === 0) return
  throw validationFailed(errors, `${errors.length} of the record_ids name no record of this tenant; see errors.`)
}

/** Each purge asks all holds with a filter. */
async function requireRoom(tx: TenantTx): Promise<void> {
  if ((await countFilterHolds(tx)) < filterHoldsMax) return
  const detail =
    `cannot stand in one more hold: the tenant has ${filterHoldsMax} with a filter in force. Release one, or name the ` +
    'records in record_ids'
  throw validationFailed([{ pointer: '/filter', detail }])
}

async function existing(tx: TenantTx, holdId: string): Promise<HoldRow> {
  const hold = await findHold(tx, holdId)
  if (hold === undefined) throw new DomainError('not-found', `There is no legal hold ${holdId} in this tenant.`)
  return hold
}

async function storedScope(tx: TenantTx, { hold_id, filter, record_count }: HoldRow): Promise<HoldScope> {
  if (filter !== null) return { filter: filterOf(filter) }
  return { recordIds: await recordIdsOf(tx, hold_id, undefined, record_count ?? 0) }
}

function answerOf(hold: HoldRow): HoldAnswer {
  const { hold_id, name, reason, filter, record_count, created_at, created_by } = hold
  const { released_at, released_by, release_reason } = hold
  return {
    hold_id,
    name,
    reason,
    active: released_at === null,
    ...(filter === null ? { record_count: record_count ?? 0 } : { filter }),
    created_at,
    created_by,
    ...(released_at === null
      ? {}
      : { released_at, released_by: released_by ?? '', release_reason: release_reason ?? '' }),
  }
}
