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
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openPage, type PageRequest } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { Actor } from '../../governance/governance-types.ts'
import { syncDetails } from './sync-completion.ts'
import { deleteEntries } from './sync-entries-store.ts'
import { firstPosition } from './sync-state.ts'
import type { ScimConnections } from './sync-types.ts'
import type { SyncList, SyncSchema } from './syncs-schemas.ts'
import {
  deleteSyncsBefore,
  findSync,
  insertSync,
  lockSyncs,
  openSync,
  type SyncListPosition,
  type SyncRow,
  saveSync,
  syncsBefore,
} from './syncs-store.ts'

type SyncResponse = Static<typeof SyncSchema>

const hourMs = 3_600_000
const forgottenAtOnce = 500

interface SyncsDeps extends Pick<ModuleParts, 'database' | 'cursorKey' | 'governance'> {
  connections: Pick<ScimConnections, 'of'>
  /** Schedules the sync if the transaction commits. */
  begin(tx: TenantTx, syncId: string): Promise<void>
  /** Stops an attempt in this process. */
  stopAttempt(syncId: string): void
}

/** Manages the syncs of a tenant for its administrators. Methods about one sync throw `not-found`. */
export class Syncs {
  readonly #deps: SyncsDeps

  constructor(deps: SyncsDeps) {
    this.#deps = deps
  }

  /** Starts a sync, or returns the open one. Throws `concurrent-modification` without SCIM. */
  start(caller: Caller): Promise<SyncResponse> {
    return this.#deps.database.withTenant(caller.tenant.slug, async (tx) => {
      await lockSyncs(tx)
      const configuration = await this.#deps.connections.of(tx)
      if (!configuration) {
        throw new DomainError(
          'concurrent-modification',
          'This tenant has no SCIM provisioning, so it has no directory to sync with. Configure it with POST ' +
            '/api/v1/identity/scim/configure, and repeat the request.',
        )
      }
      return toSyncResponse((await openSync(tx)) ?? (await this.#insert(tx, configuration.mode, caller.subject)))
    })
  }

  async latest(tenant: Tenant): Promise<SyncResponse> {
    const [row] = await readTenant(this.#deps.database, tenant.slug, (tx) => syncsBefore(tx, undefined, 1))
    if (row) return toSyncResponse(row)
    throw new DomainError('not-found', 'No sync has started yet. POST /api/v1/roster/scim:sync starts one.')
  }

  get(tenant: Tenant, syncId: string): Promise<SyncResponse> {
    return readTenant(this.#deps.database, tenant.slug, async (tx) => toSyncResponse(await found(tx, syncId)))
  }

  /** Returns a page of syncs, newest first. */
  async list({ slug }: Tenant, asked: PageRequest): Promise<Static<typeof SyncList>> {
    const { database, cursorKey } = this.#deps
    const page = openPage<SyncListPosition>(cursorKey, { tenant: slug, operation: 'listRosterSyncs', query: {} }, asked)
    const rows = await readTenant(database, slug, (tx) => syncsBefore(tx, page.after, page.count), {
      inIndexOrder: true,
    })
    const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.sync_id])
    return { items: shown.map(toSyncResponse), next_cursor }
  }

  /** Continues a sync that awaits confirmation. Throws `concurrent-modification` in any other state. */
  confirm(caller: Caller, syncId: string): Promise<SyncResponse> {
    return this.#deps.database.withTenant(caller.tenant.slug, async (tx) => {
      await lockSyncs(tx)
      const row = await found(tx, syncId)
      if (row.confirmed_at !== null) return toSyncResponse(row)
      if (row.status !== 'awaiting_confirmation') throw refused('confirmed', row)
      const position = { ...row.position, tries: 0 }
      const by = { confirmed_at: this.#at(), confirmed_by: caller.subject }
      const confirmed: SyncRow = { ...row, ...by, position, status: 'queued' }
      await saveSync(tx, confirmed)
      await this.#append(tx, caller.tenant, 'roster.scim_sync_confirmed', confirmed, caller)
      await this.#deps.begin(tx, syncId)
      return toSyncResponse(confirmed)
    })
  }

  /** Cancels a sync; its changes so far stay. Throws `concurrent-modification` for a sync that ended otherwise. */
  cancel(caller: Caller, syncId: string): Promise<SyncResponse> {
    return this.#deps.database.withTenant(caller.tenant.slug, async (tx) => {
      await lockSyncs(tx)
      const row = await found(tx, syncId, 'for update')
      if (row.status === 'cancelled') return toSyncResponse(row)
      if (row.status === 'completed' || row.status === 'failed') throw refused('cancelled', row)
      return toSyncResponse(await this.#end(tx, caller.tenant, row, caller))
    })
  }

  /** Starts a pull if the last one began half an hour ago. */
  startIfDue(tenant: Tenant): Promise<void> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      if ((await this.#deps.connections.of(tx))?.mode !== 'pull') return
      await lockSyncs(tx)
      const open = await openSync(tx)
      const hasLapsed =
        open?.status === 'awaiting_confirmation' && open.created_at < this.#at(-rosterConfirmationHours * hourMs)
      if (open && !hasLapsed) return
      const [last] = await syncsBefore(tx, undefined, 1)
      // The job runs every few minutes; slightly early is better than one run late.
      if (last && last.created_at > this.#at(-(rosterPullEveryMinutes - 1) * 60_000)) return
      if (open) await this.#end(tx, tenant, open, { service: 'roster-sync' })
      await this.#insert(tx, 'pull', 'service:hub')
    })
  }

  /** Cancels the queued or running sync. */
  async endOpen(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void> {
    await lockSyncs(tx)
    const open = await openSync(tx)
    const row = open && (await findSync(tx, open.sync_id, 'for update'))
    if (row) await this.#end(tx, tenant, row, actor)
  }

  /** Deletes a batch of old syncs, and returns whether there may be more. */
  async deleteOld(tx: TenantTx): Promise<boolean> {
    return (await deleteSyncsBefore(tx, this.#at(-rosterSyncDays * 24 * hourMs), forgottenAtOnce)) === forgottenAtOnce
  }

  #at(ms = 0) {
    return formatTimestamp(Date.now() + ms)
  }

  async #insert(tx: TenantTx, mode: 'push' | 'pull', createdBy: string): Promise<SyncRow> {
    const position = firstPosition(mode === 'pull' ? 'users' : 'archetypes', rosterPullPageSize)
    const sync = { sync_id: `sync_${randomText(24)}`, mode, created_at: this.#at(), created_by: createdBy, position }
    const row = await insertSync(tx, sync)
    await this.#deps.begin(tx, row.sync_id)
    return row
  }

  async #append(tx: TenantTx, tenant: Tenant, kind: GovernanceKind, row: SyncRow, actor: Actor): Promise<void> {
    await this.#deps.governance.append(tx, tenant, {
      kind,
      subject: `sync:${row.sync_id}`,
      details: syncDetails(row),
      actor,
    })
  }

  async #end(tx: TenantTx, tenant: Tenant, row: SyncRow, actor: Actor): Promise<SyncRow> {
    const ended: SyncRow = { ...row, status: 'cancelled', finished_at: this.#at() }
    await saveSync(tx, ended)
    await deleteEntries(tx, row.sync_id)
    await this.#append(tx, tenant, 'roster.scim_sync_cancelled', ended, actor)
    tx.afterCommit(() => this.#deps.stopAttempt(row.sync_id))
    return ended
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

function toSyncResponse(row: SyncRow): SyncResponse {
  const { keptActive, skippedEntries } = row.position
  return {
    sync_id: row.sync_id,
    mode: row.mode,
    status: row.status,
    created_at: row.created_at,
    created_by: row.created_by,
    ...(row.started_at !== null && { started_at: row.started_at }),
    ...(row.finished_at !== null && { finished_at: row.finished_at }),
    progress: { done: row.done, ...(row.total !== null && { total: row.total }) },
    added: row.added,
    updated: row.updated,
    deactivated: row.deactivated,
    unmatched: row.unmatched,
    skipped: row.skipped,
    ...(skippedEntries.length > 0 && { skipped_entries: [...skippedEntries] }),
    ...(keptActive.length > 0 && { kept_active: [...keptActive] }),
    ...(row.to_deactivate !== null && { to_deactivate: row.to_deactivate }),
    ...(row.confirmation_reason !== null && { confirmation_reason: row.confirmation_reason }),
    ...(row.confirmed_at !== null && { confirmed_at: row.confirmed_at }),
    ...(row.confirmed_by !== null && { confirmed_by: row.confirmed_by }),
    ...(row.error && { error: row.error }),
  }
}
