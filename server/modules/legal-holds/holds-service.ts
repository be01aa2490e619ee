import type { Static } from 'typebox'
import { DomainError, invalidTenant, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { filterHoldsMax, holdRecordsListed } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { normaliseFilter, type RecordFilter } from '../../../contract/record-filter.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { openPage } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nextTimePoint } from '../../records/monotonic-timestamp.ts'
import { retentionSubject } from '../../records/purge-details.ts'
import { findRecordIds } from '../../records/record-store.ts'
import type { ProvenRetention, RetentionPolicy } from '../retention/retention-types.ts'
import type { VerifiedEvents } from '../verification/verification-types.ts'
import { appliedDetails, appliedKind, holdEvents, releasedDetails, releasedKind } from './hold-events.ts'
import type { HoldJournal } from './hold-journal-types.ts'
import type { HoldList, HoldSchema, HoldsQuery, PlaceHoldBody, WholeHoldSchema } from './holds-schemas.ts'
import {
  countFilterHolds,
  findHold,
  holdsAfter,
  insertHold,
  markReleased,
  recordIdsOf,
  takeHoldsLock,
} from './holds-store.ts'
import type { HoldCheck, HoldRow } from './holds-types.ts'
import { resumeRecoveryPeriods } from './recovery-periods.ts'
import { type HoldScope, hasFrozenOf, pauseRecoveryPeriods } from './recovery-periods-store.ts'
import { filterOf } from './stored-filter.ts'

type HoldResponse = Static<typeof HoldSchema>

export interface HoldsDeps extends Pick<ModuleParts, 'database' | 'clock' | 'governance' | 'cursorKey'> {
  holds: HoldCheck
  retention: RetentionPolicy
  verifiedEvents: VerifiedEvents
  holdList: HoldJournal
}

/** Places, lists and releases legal holds. Ids are in lower case, as stored. */
export class Holds {
  private readonly deps: HoldsDeps

  constructor(deps: HoldsDeps) {
    this.deps = deps
  }

  /**
   * Places a hold, and pauses the recovery periods of the records in its scope.
   *
   * @throws DomainError `validation-failed` for unknown records and a filter without conditions, `invalid-tenant` for a
   *   filter of another tenant
   */
  async place(caller: Caller, body: PlaceHoldBody): Promise<HoldResponse> {
    const { database, clock, governance, holdList } = this.deps
    const { tenant } = caller
    const scope = scopeOf(tenant, body)
    return database.withTenant(tenant.slug, async (tx) => {
      await takeHoldsLock(tx)
      const { recordId: hold_id, createdAt: now, micros } = clock.next()
      if (body.record_ids) await requireRecords(tx, body.record_ids.map(lowerCase), now)
      else await requireRoom(tx)
      const latestPurge = await pauseRecoveryPeriods(tx, scope, now)
      const hold: HoldRow = {
        hold_id,
        name: body.name,
        reason: body.reason,
        filter: 'filter' in scope ? scope.filter : null,
        record_count: 'recordIds' in scope ? scope.recordIds.length : null,
        created_at: nextTimePoint(micros, [latestPurge]).text,
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
      await holdList.keep({ tenant: tenant.slug, ...keptMembers(hold), record_ids: recordIds })
      return toResponse(hold)
    })
  }

  async list({ slug }: Tenant, { active, ...asked }: Static<typeof HoldsQuery>): Promise<Static<typeof HoldList>> {
    const { database, cursorKey } = this.deps
    const page = openPage<string>(cursorKey, { tenant: slug, operation: 'listHolds', query: { active } }, asked)
    const rows = await readTenant(database, slug, (tx) => holdsAfter(tx, active, page.after, page.count), {
      inIndexOrder: true,
    })
    const { shown, next_cursor } = page.of(rows, (last) => last.hold_id)
    return { items: shown.map(toResponse), next_cursor }
  }

  get(tenant: Tenant, holdId: string): Promise<Static<typeof WholeHoldSchema>> {
    return readTenant(this.deps.database, tenant.slug, async (tx) => {
      const hold = await existing(tx, holdId)
      if (hold.filter !== null) return toResponse(hold)
      return { ...toResponse(hold), record_ids: await recordIdsOf(tx, holdId, holdRecordsListed) }
    })
  }

  /** Releases a hold. Repeating it returns the same response and changes nothing. */
  async release(caller: Caller, holdId: string, reason: string): Promise<HoldResponse> {
    const { database, clock, governance, holds, retention, holdList } = this.deps
    const { tenant } = caller
    const answer = await database.withTenant(tenant.slug, async (tx) => {
      await takeHoldsLock(tx)
      const hold = await existing(tx, holdId)
      if (await this.hasEnded(tx, hold)) return toResponse(hold)
      const scope = await storedScope(tx, hold)
      const rules = await retention.inForce(tx)
      if (rules.four_eyes) await requireOtherEyes(tx, scope, caller, rules)
      const { text: now } = nextTimePoint(clock.next().micros, [hold.created_at])
      const release = { released_at: now, released_by: caller.subject, release_reason: reason }
      const released = { ...hold, ...release }
      await resumeRecoveryPeriods(tx, { hold_id: holdId, ...scope }, now, holds)
      const event = await governance.append(tx, tenant, {
        kind: releasedKind,
        subject: `hold:${holdId}`,
        details: { ...releasedDetails(released), ...(rules.four_eyes ? { four_eyes: true } : {}) },
        actor: caller,
      })
      await markReleased(tx, holdId, { ...release, release_event_id: event.recordId })
      return toResponse(released)
    })
    const { released_at = '', released_by = '', release_reason = '' } = answer
    await holdList.keepEnd({ tenant: tenant.slug, hold_id: holdId, released_at, released_by, release_reason })
    return answer
  }

  /**
   * Returns whether the service released the hold. A hold that somebody ended in the database is still in force and can
   * be released.
   */
  private async hasEnded(tx: TenantTx, hold: HoldRow): Promise<boolean> {
    if (hold.released_at === null) return false
    const events = await this.deps.verifiedEvents.find(tx, [hold.release_event_id])
    return holdEvents.matchesHoldRelease(events.get(hold.release_event_id ?? ''), hold)
  }
}

/** Returns the scope of a request. A hold over every record has a filter without conditions. */
function scopeOf({ slug }: Tenant, { record_ids, filter, all }: PlaceHoldBody): HoldScope {
  const scopes = Object.entries({ record_ids, filter, all }).filter(([, value]) => value !== undefined)
  const [first, ...others] = scopes.map(([name]) => name)
  if (first === undefined) throw validationFailed([{ pointer: '/record_ids', detail: noScope }])
  if (all === false) throw validationFailed([{ pointer: '/all', detail: 'must be true, or left out' }])
  if (others.length > 0) {
    const detail = `cannot be combined with ${first}: send exactly one of record_ids, filter and all`
    throw validationFailed(others.map((name) => ({ pointer: `/${name}`, detail })))
  }
  if (record_ids !== undefined) return { recordIds: [...new Set(record_ids.map(lowerCase))] }
  if (filter === undefined) return { filter: {} }
  if (filter.tenant_id !== undefined && filter.tenant_id !== slug) throw invalidTenant(filter.tenant_id)
  const conditions = normaliseFilter(filter, '/filter')
  if (isOverAll(conditions)) throw validationFailed([{ pointer: '/filter', detail: noCondition }])
  return { filter: conditions }
}

const noScope = 'is missing, as are filter and all: send exactly one of the three'
const noCondition =
  'has no condition, so it would match every record: add a condition, or send "all": true instead of filter'

function isOverAll(filter: RecordFilter): boolean {
  return Object.keys(filter).length === 0
}

const lowerCase = (id: string) => id.toLowerCase()

/** @param recordIds the ids as sent, which the errors point at */
async function requireRecords(tx: TenantTx, recordIds: readonly string[], now: string): Promise<void> {
  const known = await findRecordIds(tx, recordIds, now)
  const errors = recordIds.flatMap((id, at): PointedError[] =>
    known.has(id) ? [] : [{ pointer: `/record_ids/${at}`, detail: 'is not a stored record of this tenant' }],
  )
  if (errors.length === 0) return
  throw validationFailed(errors, `${errors.length} of the record_ids are not records of this tenant; see errors.`)
}

/** Limits the filter holds of a tenant, because each purge checks all of them. */
async function requireRoom(tx: TenantTx): Promise<void> {
  if ((await countFilterHolds(tx)) < filterHoldsMax) return
  const detail =
    `cannot stand in one more hold: the tenant has ${filterHoldsMax} with a filter in force. Release one, or name the ` +
    'records in record_ids'
  throw validationFailed([{ pointer: '/filter', detail }])
}

const isUuid = new RegExp(patterns.uuid)

/** Throws if the caller purged records that the hold protects. Another person must release it. */
async function requireOtherEyes(
  tx: TenantTx,
  scope: HoldScope,
  { subject }: Caller,
  { author }: ProvenRetention,
): Promise<void> {
  const subjects = author === subject ? [subject, retentionSubject] : [subject]
  if (!(await hasFrozenOf(tx, scope, subjects))) return
  const detail =
    'You purged records under this hold, or set the rule that purged them. Four eyes are required: another person ' +
    'must release it.'
  throw new DomainError('legal-hold', detail)
}

async function existing(tx: TenantTx, holdId: string): Promise<HoldRow> {
  const hold = isUuid.test(holdId) ? await findHold(tx, holdId) : undefined
  if (hold === undefined) throw new DomainError('not-found', 'The tenant has no legal hold with this id.')
  return hold
}

export async function storedScope(tx: TenantTx, { hold_id, filter, record_count }: HoldRow): Promise<HoldScope> {
  if (filter !== null) return { filter: filterOf(filter) }
  return { recordIds: await recordIdsOf(tx, hold_id, record_count ?? 0) }
}

function keptMembers({ hold_id, name, reason, filter, created_at, created_by }: HoldRow) {
  return { hold_id, name, reason, filter, created_at, created_by }
}

function toResponse(hold: HoldRow): HoldResponse {
  const { hold_id, name, reason, filter, record_count, created_at, created_by } = hold
  const { released_at, released_by, release_reason } = hold
  return {
    hold_id,
    name,
    reason,
    active: released_at === null,
    ...(filter === null ? { record_count: record_count ?? 0 } : { filter, ...(isOverAll(filter) && { all: true }) }),
    created_at,
    created_by,
    ...(released_at === null
      ? {}
      : { released_at, released_by: released_by ?? '', release_reason: release_reason ?? '' }),
  }
}
