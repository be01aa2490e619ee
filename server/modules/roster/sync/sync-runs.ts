import { DomainError } from '../../../../contract/domain-error.ts'
import { rosterPullTriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { ScimSources } from '../../identity/scim/scim-source-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { createApplyInParts } from './apply-in-parts.ts'
import { pullPage } from './pull-pages.ts'
import { pulledGroups } from './pulled-groups.ts'
import { pulledUsers } from './pulled-users.ts'
import type { SourceAsking } from './source-asking.ts'
import { type SyncAttempt, takeStep } from './sync-attempt.ts'
import { createSyncEnd, syncDetails } from './sync-end.ts'
import { forgetEntries } from './sync-entries-store.ts'
import { SyncFailed, SyncOver, WorkerStops } from './sync-state.ts'
import type { ResourceReader, ScimConnections } from './sync-types.ts'
import { beginAttempt, endedBefore, lockAttempt, type SyncRow, saveSync } from './syncs-store.ts'

/** Works on syncs. */
export interface SyncRuns {
  /** Goes on from where the sync is, up to its end. Throws what has to be tried again. */
  run(tenantId: string, syncId: string, signal: AbortSignal): Promise<void>
  /** Tells the attempt in this process, if there is one, that nobody wants it any more. */
  stopAttempt(syncId: string): void
  /** Stops all attempts; they go on later, here or elsewhere. */
  stop(): void
}

const actor = { service: 'roster-sync' }

export function createSyncRuns(deps: {
  database: Database
  directory: Directory
  tenants: Pick<TenantDirectory, 'find'>
  connections: Pick<ScimConnections, 'of' | 'pullTokenOf'>
  sources: ScimSources
  reader: ResourceReader
  asking: SourceAsking
  governance: GovernanceLog
  log: DatabaseLog
}): SyncRuns {
  const { database, connections, log } = deps
  const stopping = new AbortController()
  const running = new Map<string, AbortController>()
  const paging = { ...deps, applyInParts: createApplyInParts(database) }
  const users = pulledUsers(deps)
  const groups = pulledGroups(deps)
  const end = createSyncEnd(deps)

  async function begin(tenant: Tenant, syncId: string, signal: AbortSignal) {
    return database.withTenant(tenant.slug, async (tx) => {
      const row = await beginAttempt(tx, syncId, formatTimestamp(Date.now()))
      if (!row) return undefined
      const configuration = await connections.of(tx)
      const token = row.mode === 'pull' ? await connections.pullTokenOf(tx, tenant) : undefined
      const isSame = configuration?.mode === row.mode
      const { baseUrl } = configuration ?? {}
      const source = baseUrl !== undefined && token !== undefined ? deps.sources.open(baseUrl, token) : undefined
      const mapping = configuration?.groupArchetypeMap ?? []
      const attempt: SyncAttempt = { tenant, syncId, attempt: row.attempt, source, mapping, actor, signal }
      return { row, attempt, isSame: isSame && (row.mode === 'push' || source !== undefined) }
    })
  }

  async function work(attempt: SyncAttempt, begun: SyncRow): Promise<void> {
    let row = begun
    while (row.status === 'running') {
      attempt.signal.throwIfAborted()
      const { phase } = row.position
      if (phase === 'users') row = await pullPage(paging, users, attempt, row)
      else if (phase === 'groups') row = await pullPage(paging, groups, attempt, row)
      else row = await end[phase](attempt)
    }
  }

  async function fail(attempt: SyncAttempt, detail: string): Promise<void> {
    const { tenant, syncId } = attempt
    await takeStep(database, attempt, async (tx, row) => {
      row.status = 'failed'
      row.finished_at = formatTimestamp(Date.now())
      row.error = { detail }
      await forgetEntries(tx, syncId)
      // One that fails every half hour is told of once.
      if ((await endedBefore(tx, syncId))?.status === 'failed') return
      const kind = 'roster.scim_sync_failed'
      await deps.governance.append(tx, tenant, { kind, subject: `sync:${syncId}`, details: syncDetails(row), actor })
    })
  }

  /** The worker stops through no fault of the sync. */
  async function giveUp({ tenant, syncId, attempt }: SyncAttempt): Promise<void> {
    await database.withTenant(tenant.slug, async (tx) => {
      const row = await lockAttempt(tx, syncId, attempt)
      if (!row) return
      row.position = { ...row.position, tries: Math.max(0, row.position.tries - 1) }
      await saveSync(tx, row)
    })
  }

  /** Throws what is to be tried again. */
  async function settle(attempt: SyncAttempt, error: unknown): Promise<void> {
    if (error instanceof SyncOver) return
    if (error instanceof WorkerStops) {
      await giveUp(attempt).catch((err: unknown) => log.warn({ err }, 'a sync of the roster could not be given up'))
      throw error
    }
    if (error instanceof DomainError && error.slug === 'hub-unavailable') throw error
    if (!(error instanceof SyncFailed)) {
      log.error({ err: error, tenant: attempt.tenant.slug, sync: attempt.syncId }, 'a sync of the roster failed')
    }
    const unknown = 'The sync ended in an error that the Hub does not expect. Tell the operator the id of the sync.'
    try {
      await fail(attempt, error instanceof SyncFailed ? error.message : unknown)
    } catch (thrown) {
      if (!(thrown instanceof SyncOver)) throw thrown
    }
  }

  return {
    async run(tenantId, syncId, signal) {
      if (stopping.signal.aborted) throw new WorkerStops('the worker stops')
      const tenant = await deps.tenants.find(tenantId)
      if (!tenant) return
      const over = new AbortController()
      const stops = new AbortController()
      const stop = () => stops.abort(new WorkerStops('the worker stops'))
      for (const each of [signal, stopping.signal]) each.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      running.set(syncId, over)
      try {
        const begun = await begin(tenant, syncId, AbortSignal.any([over.signal, stops.signal]))
        if (!begun) return
        try {
          if (!begun.isSame) throw new SyncFailed('SCIM is no longer configured as it was when the sync was ordered.')
          if (begun.row.position.tries > rosterPullTriesMax) {
            throw new SyncFailed(`The sync broke off ${rosterPullTriesMax} times at the same place.`)
          }
          await work(begun.attempt, begun.row)
        } catch (error) {
          await settle(begun.attempt, error)
        }
      } finally {
        for (const each of [signal, stopping.signal]) each.removeEventListener('abort', stop)
        if (running.get(syncId) === over) running.delete(syncId)
      }
    },
    stopAttempt: (syncId) => running.get(syncId)?.abort(new SyncOver('the sync was cancelled')),
    stop: () => stopping.abort(),
  }
}
