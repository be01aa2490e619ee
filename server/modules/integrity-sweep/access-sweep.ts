import { isJsonObject, type JsonObject } from '../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import {
  type AccountFields,
  accountRows,
  allProvenRows,
  type ProvenRows,
  type UserFields,
  userRows,
} from '../../db/proven-rows.ts'
import { digestOfProof } from '../../db/row-digests.ts'
import type { Proven } from '../../db/row-proofs.ts'
import type { Tenant } from '../../http/caller.ts'
import { recordIdFloor } from '../../records/record-clock.ts'
import type { VerifiedEvent, VerifiedEvents } from '../verification/verification-types.ts'
import { findAccessEvents, findProvenRows } from './access-sweep-store.ts'
import { firstId } from './record-scan.ts'
import { applyEventDigests, type DigestsInForce, digestKey } from './row-digests-in-force.ts'
import type { Finding, RoundStep } from './sweep-types.ts'

/**
 * Maps people above member, deactivated people and service accounts to their access, by the newest event about each.
 */
type AccessInEvents = ReadonlyMap<string, { eventId: string; access: string }>

/** The progress of a round over the rows that grant access. */
export type AccessCursor = typeof firstAccessCursor

export const firstAccessCursor = {
  /** The index of the table, and the key of its last row. */
  ...{ table: 0, after: '' },
  /** The id from which reading events continues; earlier events keep their effect. */
  event: firstId,
  access: new Map() as AccessInEvents,
  digests: new Map() as DigestsInForce,
}

/** Stands for the access of a deactivated person. */
const noAccess = 'none'

const stepRows = 1_000
const stepEvents = 2_000
/** Milliseconds; longer than any transaction that writes an event. */
const lateMs = 120_000

/**
 * Verifies the rows that grant access, whether or not they are used. Compares each row with the newest event about it:
 * a row that was set back, with a formerly valid proof, has another digest or grants another access.
 */
export function createAccessSweep(deps: { database: Database; verifiedEvents: VerifiedEvents }) {
  const { database } = deps

  /**
   * Reads new events before the rows, so that each row is compared with all earlier events. Reads the events of the
   * last two minutes again each time, because a late transaction may store an event before others that were already
   * read.
   */
  async function followEvents(
    tx: TenantTx,
    cursor: AccessCursor,
  ): Promise<{ cursor: AccessCursor; rows: number; isUpToDate: boolean }> {
    const floor = recordIdFloor(Date.now() - lateMs, 0)
    const access = new Map(cursor.access)
    const digests = new Map(cursor.digests)
    let { event: settled } = cursor
    for (let [after, rows] = [settled, 0]; ; ) {
      const found = await findAccessEvents(tx, after, stepEvents)
      const ids = found.flatMap(({ record_id, is_of_access }) => (is_of_access ? [record_id] : []))
      const events = await deps.verifiedEvents.find(tx, ids)
      for (const id of ids) {
        const event = events.get(id)
        if (!event) continue
        applyEvent(access, event)
        applyEventDigests(digests, event)
      }
      after = found.at(-1)?.record_id ?? after
      settled = found.findLast(({ record_id }) => record_id < floor)?.record_id ?? settled
      rows += ids.length
      const isUpToDate = found.length < stepEvents
      if (isUpToDate || after < floor)
        return { cursor: { ...cursor, event: settled, access, digests }, rows, isUpToDate }
    }
  }

  async function checkRows(tx: TenantTx, cursor: AccessCursor): Promise<RoundStep<AccessCursor>> {
    const rows = allProvenRows[cursor.table]!
    const found = await findProvenRows(tx, rows, cursor.after, stepRows)
    const findings = found.flatMap((row): Finding[] => {
      const subject = rows.subject(row, tx.tenantId)
      if (!tx.proofs.holds(rows, tx.tenantId, row)) {
        return [{ subject, failedChecks: ['access_proven'], found: { table: rows.table } }]
      }
      const event = contradictingEvent(cursor, rows, row, subject)
      if (event === undefined) return []
      return [{ subject, failedChecks: ['access_follows_events'], found: { table: rows.table, event } }]
    })
    const isTableOver = found.length < stepRows
    const isRoundOver = isTableOver && cursor.table === allProvenRows.length - 1
    const place = isTableOver
      ? { table: cursor.table + 1, after: '' }
      : { table: cursor.table, after: found.at(-1)!.key }
    return {
      rows: found.length,
      findings,
      cursor: { ...cursor, ...(isRoundOver ? { table: 0, after: '' } : place) },
      isRoundOver,
    }
  }

  return ({ slug }: Tenant, cursor: AccessCursor): Promise<RoundStep<AccessCursor>> =>
    readTenant(
      database,
      slug,
      async (tx) => {
        const followed = await followEvents(tx, cursor)
        if (!followed.isUpToDate) return { ...followed, findings: [], isRoundOver: false }
        const checked = await checkRows(tx, followed.cursor)
        return { ...checked, rows: checked.rows + followed.rows }
      },
      { snapshot: true, inIndexOrder: true },
    )
}

/**
 * Returns the newest event about a row that contradicts it, null if no event allows the access that the row grants, and
 * undefined otherwise.
 */
function contradictingEvent(
  { access, digests }: AccessCursor,
  rows: ProvenRows<unknown>,
  row: Proven<unknown>,
  subject: string,
): string | null | undefined {
  const inForce = digests.get(digestKey(rows.table, subject))
  if (inForce) return inForce.digest === digestOfProof(row.proof!) ? undefined : inForce.eventId
  const [stored, newest] = [accessOf(rows, row), access.get(subject)]
  if (stored === undefined || stored === newest?.access) return undefined
  if (stored === 'member' && newest?.access !== noAccess) return undefined
  return newest?.eventId ?? null
}

/**
 * Returns the access that a row grants, with the values of {@link AccessInEvents}; undefined if it is not compared with
 * an event.
 */
function accessOf(rows: unknown, row: unknown): string | undefined {
  if (rows === userRows) {
    const { role, deactivated_at: deactivated } = row as UserFields
    return deactivated === null ? role : undefined
  }
  if (rows !== accountRows) return undefined
  const { disabled, scopes } = row as AccountFields
  return disabled ? undefined : scopes.join(' ')
}

/** Applies one event after the other, in their order. Deletes the entry of an active member or a disabled account. */
function applyEvent(access: Map<string, { eventId: string; access: string }>, event: VerifiedEvent): void {
  const { eventId, subject, details } = event
  const { after, change } = details
  if (!isJsonObject(after) || typeof change !== 'string') return
  const isUser = subject.startsWith('user:')
  if (!isUser && !subject.startsWith('service_account:')) return
  const now = isUser
    ? accessOfUser(String(after.role), after.active === true)
    : accessOfAccount(change, after, access.get(subject)?.access)
  if (now === undefined) access.delete(subject)
  else access.set(subject, { eventId, access: now })
}

/** Returns the access of a person; undefined for active members, which are not tracked. */
function accessOfUser(role: string, active: boolean): string | undefined {
  if (!active) return noAccess
  return role === 'member' ? undefined : role
}

function accessOfAccount(change: string, after: JsonObject, former: string | undefined): string | undefined {
  if (change === 'service_account_disabled') return undefined
  return Array.isArray(after.scopes) ? after.scopes.join(' ') : former
}
