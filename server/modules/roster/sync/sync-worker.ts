import { isUnavailable } from '../../../../contract/domain-error.ts'
import { rosterPullHoursMax, rosterPullTriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { ScimSources } from '../../identity/scim/scim-source-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { pullPage } from './pull-pages.ts'
import { pulledGroups, pulledUsers } from './pulled-entries.ts'
import {
  beginTimeSlice,
  type NextTimeSlice,
  type SyncAttempt,
  type SyncLane,
  TimeSliceEnded,
  takeStep,
} from './sync-attempt.ts'
import { createSyncCompletion, syncDetails } from './sync-completion.ts'
import { forgetEntries } from './sync-entries-store.ts'
import { SyncEndedError, SyncFailed } from './sync-state.ts'
import type { ResourceReader, ScimConnections } from './sync-types.ts'
import { beginAttempt, endedBefore, lockAttempt, type SyncRow, saveSync } from './syncs-store.ts'

/** Runs syncs. */
export interface SyncWorker {
  /** Runs one time slice of a sync from its saved position, and schedules the next. Throws errors that need a retry. */
  run(tenantId: string, syncId: string, lane: SyncLane, signal: AbortSignal): Promise<void>
  /** Stops the attempt in this process, if there is one. */
  stopAttempt(syncId: string): void
  /** Stops all attempts; they continue later, here or elsewhere. */
  stop(): void
}

/** A scheduled time slice: its lane and its earliest start. */
export interface ScheduledTimeSlice {
  lane: SyncLane
  startAfter?: Date
}

/** Interval in milliseconds at which the sync of a suspended tenant checks the suspension. */
const suspendedMs = 5 * 60_000

const actor = { service: 'roster-sync' }

export function createSyncWorker(deps: {
  database: Database
  directory: Directory
  tenants: Pick<TenantDirectory, 'find'>
  connections: Pick<ScimConnections, 'of' | 'pullTokenOf'>
  sources: ScimSources
  reader: ResourceReader
  governance: GovernanceLog
  /** Schedules the next time slice of a sync if the transaction commits. */
  goOn(tx: TenantTx, syncId: string, turn: ScheduledTimeSlice): Promise<void>
  log: DatabaseLog
}): SyncWorker {
  const { database, connections, log } = deps
  const stopping = new AbortController()
  const running = new Map<string, AbortController>()
  const users = pulledUsers(deps)
  const groups = pulledGroups(deps)
  const end = createSyncCompletion(deps)

  async function begin(tenant: Tenant, syncId: string, lane: SyncLane, signal: AbortSignal) {
    return database.withTenant(tenant.slug, async (tx) => {
      const row = await beginAttempt(tx, syncId, formatTimestamp(Date.now()))
      if (!row) return undefined
      const configuration = await connections.of(tx)
      const token = row.mode === 'pull' ? await connections.pullTokenOf(tx, tenant) : undefined
      const isSame = configuration?.mode === row.mode
      const { baseUrl } = configuration ?? {}
      const source = baseUrl !== undefined && token !== undefined ? deps.sources.open(baseUrl, token) : undefined
      const mapping = configuration?.groupArchetypeMap ?? []
      const turn = beginTimeSlice(lane)
      const attempt: SyncAttempt = { tenant, syncId, attempt: row.attempt, source, mapping, actor, turn, signal }
      const isTokenGone = isSame && row.mode === 'pull' && token === undefined
      return { row, attempt, isTokenGone, isSame: isSame && (row.mode === 'push' || source !== undefined) }
    })
  }

  async function work(attempt: SyncAttempt, begun: SyncRow): Promise<void> {
    let row = begun
    while (row.status === 'running') {
      attempt.signal.throwIfAborted()
      if (row !== begun && attempt.turn.isOver()) throw new TimeSliceEnded()
      const { phase } = row.position
      if (phase === 'users') row = await pullPage(database, users, attempt, row)
      else if (phase === 'groups') row = await pullPage(database, groups, attempt, row)
      else row = await end[phase](attempt)
    }
  }

  async function endTurn(attempt: SyncAttempt, { lane = attempt.turn.lane, pauseMs = 0, asks = 0 }: NextTimeSlice) {
    await takeStep(database, attempt, async (tx, row) => {
      row.position.asks = asks
      await deps.goOn(tx, attempt.syncId, { lane, ...(pauseMs > 0 && { startAfter: new Date(Date.now() + pauseMs) }) })
    })
  }

  async function fail(attempt: SyncAttempt, detail: string): Promise<void> {
    const { tenant, syncId } = attempt
    await takeStep(database, attempt, async (tx, row) => {
      row.status = 'failed'
      row.finished_at = formatTimestamp(Date.now())
      row.error = { detail }
      await forgetEntries(tx, syncId)
      // Repeated failures, one every half hour, are reported once.
      if ((await endedBefore(tx, syncId))?.status === 'failed') return
      const kind = 'roster.scim_sync_failed'
      await deps.governance.append(tx, tenant, { kind, subject: `sync:${syncId}`, details: syncDetails(row), actor })
    })
  }

  /** Takes back the try: the worker stops for a reason outside the sync. */
  async function giveUp({ tenant, syncId, attempt }: SyncAttempt): Promise<void> {
    await database.withTenant(tenant.slug, async (tx) => {
      const row = await lockAttempt(tx, syncId, attempt)
      if (!row) return
      row.position = { ...row.position, tries: Math.max(0, row.position.tries - 1) }
      await saveSync(tx, row)
    })
  }

  /** Handles the error of an attempt; throws one that needs a retry. */
  async function settle(attempt: SyncAttempt, thrown: unknown): Promise<void> {
    const { tenant, syncId } = attempt
    if (thrown instanceof SyncEndedError) return
    if (attempt.signal.aborted) {
      await giveUp(attempt).catch((err: unknown) => log.warn({ err }, 'a sync of the roster could not be given up'))
      throw thrown
    }
    if (isUnavailable(thrown)) throw thrown
    if (thrown instanceof TimeSliceEnded) return endTurn(attempt, thrown.next)
    const isExpected = thrown instanceof SyncFailed
    if (!isExpected) log.error({ err: thrown, tenant: tenant.slug, sync: syncId }, 'a sync of the roster failed')
    const unknown = 'The sync ended in an error that the Hub does not expect. Tell the operator the id of the sync.'
    await fail(attempt, isExpected ? thrown.message : unknown)
  }

  return {
    async run(tenantId, syncId, lane, signal) {
      stopping.signal.throwIfAborted()
      const tenant = await deps.tenants.find(tenantId)
      if (!tenant) {
        const isSuspended = (await deps.tenants.find(tenantId, { evenSuspended: true })) !== undefined
        const startAfter = new Date(Date.now() + suspendedMs)
        if (isSuspended) await database.withTenant(tenantId, (tx) => deps.goOn(tx, syncId, { lane, startAfter }))
        return
      }
      const over = new AbortController()
      running.set(syncId, over)
      try {
        const begun = await begin(tenant, syncId, lane, AbortSignal.any([over.signal, signal, stopping.signal]))
        if (!begun) return
        try {
          requireHope(begun)
          await work(begun.attempt, begun.row)
        } catch (error) {
          await settle(begun.attempt, over.signal.aborted ? over.signal.reason : error)
        }
      } catch (error) {
        if (!(error instanceof SyncEndedError)) throw error
      } finally {
        if (running.get(syncId) === over) running.delete(syncId)
      }
    },
    stopAttempt: (syncId) => running.get(syncId)?.abort(new SyncEndedError('the sync was cancelled')),
    stop: () => stopping.abort(),
  }
}

/** Throws {@link SyncFailed} if continuing is pointless. */
function requireHope({ row, ...state }: { row: SyncRow; isSame: boolean; isTokenGone: boolean }): void {
  const { isSame, isTokenGone } = state
  const { tries, phase } = row.position
  if (isTokenGone) {
    throw new SyncFailed(
      'The token of the directory was lost with the destroyed key of the tenant. Set it again with POST ' +
        '/api/v1/identity/scim/configure.',
    )
  }
  if (!isSame) throw new SyncFailed('SCIM is no longer configured as it was when the sync was ordered.')
  if (tries > rosterPullTriesMax) {
    throw new SyncFailed(`The sync broke off ${rosterPullTriesMax} times at the same place.`)
  }
  const isReading = phase === 'users' || phase === 'groups'
  const readForMs = Date.now() - Date.parse(row.started_at ?? row.created_at)
  if (isReading && readForMs > rosterPullHoursMax * 3_600_000) {
    throw new SyncFailed(`The directory could not be read in ${rosterPullHoursMax} hours: it answers too slowly.`)
  }
}
