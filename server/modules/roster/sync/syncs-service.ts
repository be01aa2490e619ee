import type { Static } from 'typebox'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { GovernanceKind } from '../../../../contract/governance-kinds.ts'
import {
  rosterConfirmationHours,
  rosterPullEveryMinutes,
  rosterPullPageSize,
  rosterSyncDays,
} from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { Actor, GovernanceLog } from '../../governance/governance-types.ts'
import { syncDetails } from './sync-completion.ts'
import { forgetEntries } from './sync-entries-store.ts'
import { type SyncResponse, toSyncResponse } from './sync-response.ts'
import { firstPosition } from './sync-state.ts'
import type { ScimConnections } from './sync-types.ts'
import type { SyncList } from './syncs-schemas.ts'
import {
  findSync,
  forgetSyncsBefore,
  insertSync,
  lockSyncs,
  openSync,
  type SyncListPosition,
  type SyncRow,
  saveSync,
  syncsBefore,
} from './syncs-store.ts'

/** Manages the syncs of a tenant for its administrators. Methods about one sync throw `not-found`. */
export interface Syncs {
  /** Starts a sync, or returns the open one. Throws `concurrent-modification` without SCIM. */
  start(caller: Caller): Promise<SyncResponse>
  latest(tenant: Tenant): Promise<SyncResponse>
  get(tenant: Tenant, syncId: string): Promise<SyncResponse>
  /** Returns a page of syncs, newest first. */
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<Static<typeof SyncList>>
  /** Continues a sync that awaits confirmation. Throws `concurrent-modification` in any other state. */
  confirm(caller: Caller, syncId: string): Promise<SyncResponse>
  /** Cancels a sync; its changes so far stay. Throws `concurrent-modification` for a sync that ended otherwise. */
  cancel(caller: Caller, syncId: string): Promise<SyncResponse>
}

/** Starts and ends syncs automatically. */
export interface SyncSchedule {
  /** Starts a pull if the last one began half an hour ago. */
  startIfDue(tenant: Tenant): Promise<void>
  /** Cancels the queued or running sync. */
  endOpen(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void>
  /** Deletes a batch of old syncs, and returns whether there may be more. */
  forgetOld(tx: TenantTx): Promise<boolean>
}

const hourMs = 3_600_000
const forgottenAtOnce = 500

export function createSyncs(deps: {
  database: Database
  cursorKey: Buffer
  governance: GovernanceLog
  connections: Pick<ScimConnections, 'of'>
  /** Schedules the sync if the transaction commits. */
  begin(tx: TenantTx, syncId: string): Promise<void>
  /** Stops an attempt in this process. */
  stopAttempt(syncId: string): void
}): Syncs & SyncSchedule {
  const { database, governance } = deps
  const at = (ms = 0) => formatTimestamp(Date.now() + ms)

  async function insert(tx: TenantTx, mode: 'push' | 'pull', createdBy: string): Promise<SyncRow> {
    const position = firstPosition(mode === 'pull' ? 'users' : 'archetypes', rosterPullPageSize)
    const sync = { sync_id: `sync_${randomText(24)}`, mode, created_at: at(), created_by: createdBy, position }
    const row = await insertSync(tx, sync)
    await deps.begin(tx, row.sync_id)
    return row
  }

  async function append(tx: TenantTx, tenant: Tenant, kind: GovernanceKind, row: SyncRow, actor: Actor): Promise<void> {
    await governance.append(tx, tenant, { kind, subject: `sync:${row.sync_id}`, details: syncDetails(row), actor })
  }

  async function end(tx: TenantTx, tenant: Tenant, row: SyncRow, actor: Actor): Promise<SyncRow> {
    const ended: SyncRow = { ...row, status: 'cancelled', finished_at: at() }
    await saveSync(tx, ended)
    await forgetEntries(tx, row.sync_id)
    await append(tx, tenant, 'roster.scim_sync_cancelled', ended, actor)
    tx.afterCommit(() => deps.stopAttempt(row.sync_id))
    return ended
  }

  return {
    start: (caller) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        await lockSyncs(tx)
        const configuration = await deps.connections.of(tx)
        if (!configuration) {
          throw new DomainError(
            'concurrent-modification',
            'There is nothing to sync with: this tenant has no SCIM provisioning. Configure it with ' +
              'POST /api/v1/identity/scim/configure, and repeat this call.',
          )
        }
        return toSyncResponse((await openSync(tx)) ?? (await insert(tx, configuration.mode, caller.subject)))
      }),

    async latest(tenant) {
      const [row] = await database.withTenant(tenant.slug, (tx) => syncsBefore(tx, undefined, 1), { readOnly: true })
      if (row) return toSyncResponse(row)
      throw new DomainError('not-found', 'No sync has begun yet. POST /api/v1/roster/scim:sync begins one.')
    },

    get: (tenant, syncId) =>
      database.withTenant(tenant.slug, async (tx) => toSyncResponse(await found(tx, syncId)), { readOnly: true }),

    async list({ slug }, { limit, cursor }) {
      const binding = { tenant: slug, operation: 'listRosterSyncs', query: {} }
      const before =
        cursor === undefined ? undefined : (openCursor(deps.cursorKey, binding, cursor) as unknown as SyncListPosition)
      const rows = await database.withTenant(slug, (tx) => syncsBefore(tx, before, limit + 1), {
        readOnly: true,
        inIndexOrder: true,
      })
      const { shown, next_cursor } = pageOf(rows, limit, (last) =>
        signCursor(deps.cursorKey, binding, [last.created_at, last.sync_id]),
      )
      return { items: shown.map(toSyncResponse), next_cursor }
    },

    confirm: (caller, syncId) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        await lockSyncs(tx)
        const row = await found(tx, syncId)
        if (row.confirmed_at !== null) return toSyncResponse(row)
        if (row.status !== 'awaiting_confirmation') throw refused('confirmed', row)
        const position = { ...row.position, tries: 0 }
        const by = { confirmed_at: at(), confirmed_by: caller.subject }
        const confirmed: SyncRow = { ...row, ...by, position, status: 'queued' }
        await saveSync(tx, confirmed)
        await append(tx, caller.tenant, 'roster.scim_sync_confirmed', confirmed, caller)
        await deps.begin(tx, syncId)
        return toSyncResponse(confirmed)
      }),

    cancel: (caller, syncId) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        await lockSyncs(tx)
        const row = await found(tx, syncId, 'for update')
        if (row.status === 'cancelled') return toSyncResponse(row)
        if (row.status === 'completed' || row.status === 'failed') throw refused('cancelled', row)
        return toSyncResponse(await end(tx, caller.tenant, row, caller))
      }),

    startIfDue: (tenant) =>
      database.withTenant(tenant.slug, async (tx) => {
        if ((await deps.connections.of(tx))?.mode !== 'pull') return
        await lockSyncs(tx)
        const open = await openSync(tx)
        const hasLapsed =
          open?.status === 'awaiting_confirmation' && open.created_at < at(-rosterConfirmationHours * hourMs)
        if (open && !hasLapsed) return
        const [last] = await syncsBefore(tx, undefined, 1)
        // The job runs every few minutes; slightly early is better than one run late.
        if (last && last.created_at > at(-(rosterPullEveryMinutes - 1) * 60_000)) return
        if (open) await end(tx, tenant, open, { service: 'roster-sync' })
        await insert(tx, 'pull', 'service:hub')
      }),

    async endOpen(tx, tenant, actor) {
      await lockSyncs(tx)
      const open = await openSync(tx)
      const row = open && (await findSync(tx, open.sync_id, 'for update'))
      if (row) await end(tx, tenant, row, actor)
    },

    forgetOld: async (tx) =>
      (await forgetSyncsBefore(tx, at(-rosterSyncDays * 24 * hourMs), forgottenAtOnce)) === forgottenAtOnce,
  }
}

async function found(tx: TenantTx, syncId: string, lock?: 'for update'): Promise<SyncRow> {
  const row = await findSync(tx, syncId, lock)
  if (row) return row
  throw new DomainError('not-found', 'The tenant has no sync with this id.')
}

function refused(what: 'confirmed' | 'cancelled', row: SyncRow): DomainError {
  return new DomainError('concurrent-modification', `The sync cannot be ${what}: it is ${row.status}.`)
}
