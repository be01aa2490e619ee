import { isUnavailable } from '../../../../contract/domain-error.ts'
import { rosterPullHoursMax, rosterPullTriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { ScimSources } from '../../identity/scim/scim-source-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { type PulledKind, pullPage } from './pull-pages.ts'
import { pulledGroups, pulledUsers } from './pulled-entries.ts'
import {
  beginTimeSlice,
  type NextTimeSlice,
  type SyncAttempt,
  type SyncLane,
  TimeSliceEnded,
  takeStep,
} from './sync-attempt.ts'
import { createSyncCompletion, type SyncCompletion, syncDetails } from './sync-completion.ts'
import { deleteEntries } from './sync-entries-store.ts'
import { SyncEndedError, SyncFailed } from './sync-state.ts'
import type { ResourceReader, ScimConnections } from './sync-types.ts'
import { beginAttempt, endedBefore, lockAttempt, type SyncRow, saveSync } from './syncs-store.ts'

/** A scheduled time slice: its lane and its earliest start. */
export interface ScheduledTimeSlice {
  lane: SyncLane
  startAfter?: Date
}

/** Interval in milliseconds at which the sync of a suspended tenant checks the suspension. */
const suspendedMs = 5 * 60_000

const actor = { service: 'roster-sync' }

interface SyncWorkerDeps extends Pick<ModuleParts, 'database' | 'governance' | 'log'> {
  directory: Directory
  tenants: Pick<TenantDirectory, 'find'>
  connections: Pick<ScimConnections, 'of' | 'pullTokenOf'>
  sources: ScimSources
  reader: ResourceReader
  /** Schedules the next time slice of a sync if the transaction commits. */
  goOn(tx: TenantTx, syncId: string, turn: ScheduledTimeSlice): Promise<void>
}

export class SyncWorker {
  readonly #deps: SyncWorkerDeps
  readonly #stopping = new AbortController()
  readonly #running = new Map<string, AbortController>()
  readonly #users: PulledKind
  readonly #groups: PulledKind
  readonly #end: SyncCompletion

  constructor(deps: SyncWorkerDeps) {
    this.#deps = deps
    this.#users = pulledUsers(this.#deps)
    this.#groups = pulledGroups(this.#deps)
    this.#end = createSyncCompletion(this.#deps)
  }

  /** Runs one time slice of a sync from its saved position, and schedules the next. Throws errors that need a retry. */
  async run(tenantId: string, syncId: string, lane: SyncLane, signal: AbortSignal): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    const tenant = await this.#deps.tenants.find(tenantId)
    if (!tenant) {
      const isSuspended = (await this.#deps.tenants.find(tenantId, { evenSuspended: true })) !== undefined
      const startAfter = new Date(Date.now() + suspendedMs)
      if (isSuspended)
        await this.#deps.database.withTenant(tenantId, (tx) => this.#deps.goOn(tx, syncId, { lane, startAfter }))
      return
    }
    const over = new AbortController()
    this.#running.set(syncId, over)
    try {
      const begun = await this.#begin(
        tenant,
        syncId,
        lane,
        AbortSignal.any([over.signal, signal, this.#stopping.signal]),
      )
      if (!begun) return
      try {
        requireHope(begun)
        await this.#work(begun.attempt, begun.row)
      } catch (error) {
        await this.#settle(begun.attempt, over.signal.aborted ? over.signal.reason : error)
      }
    } catch (error) {
      if (!(error instanceof SyncEndedError)) throw error
    } finally {
      if (this.#running.get(syncId) === over) this.#running.delete(syncId)
    }
  }

  /** Stops the attempt in this process, if there is one. */
  stopAttempt(syncId: string): void {
    this.#running.get(syncId)?.abort(new SyncEndedError('the sync was cancelled'))
  }

  /** Stops all attempts; they continue later, here or elsewhere. */
  stop(): void {
    this.#stopping.abort()
  }

  async #begin(tenant: Tenant, syncId: string, lane: SyncLane, signal: AbortSignal) {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const row = await beginAttempt(tx, syncId, formatTimestamp(Date.now()))
      if (!row) return undefined
      const configuration = await this.#deps.connections.of(tx)
      const token = row.mode === 'pull' ? await this.#deps.connections.pullTokenOf(tx, tenant) : undefined
      const isSame = configuration?.mode === row.mode
      const { baseUrl } = configuration ?? {}
      const source = baseUrl !== undefined && token !== undefined ? this.#deps.sources.open(baseUrl, token) : undefined
      const mapping = configuration?.groupArchetypeMap ?? []
      const turn = beginTimeSlice(lane)
      const attempt: SyncAttempt = { tenant, syncId, attempt: row.attempt, source, mapping, actor, turn, signal }
      const isTokenGone = isSame && row.mode === 'pull' && token === undefined
      return { row, attempt, isTokenGone, isSame: isSame && (row.mode === 'push' || source !== undefined) }
    })
  }

  async #work(attempt: SyncAttempt, begun: SyncRow): Promise<void> {
    let row = begun
    while (row.status === 'running') {
      attempt.signal.throwIfAborted()
      if (row !== begun && attempt.turn.isOver()) throw new TimeSliceEnded()
      const { phase } = row.position
      if (phase === 'users') row = await pullPage(this.#deps.database, this.#users, attempt, row)
      else if (phase === 'groups') row = await pullPage(this.#deps.database, this.#groups, attempt, row)
      else row = await this.#end[phase](attempt)
    }
  }

  async #endTurn(attempt: SyncAttempt, { lane = attempt.turn.lane, pauseMs = 0, asks = 0 }: NextTimeSlice) {
    await takeStep(this.#deps.database, attempt, async (tx, row) => {
      row.position.asks = asks
      await this.#deps.goOn(tx, attempt.syncId, {
        lane,
        ...(pauseMs > 0 && { startAfter: new Date(Date.now() + pauseMs) }),
      })
    })
  }

  async #fail(attempt: SyncAttempt, detail: string): Promise<void> {
    const { tenant, syncId } = attempt
    await takeStep(this.#deps.database, attempt, async (tx, row) => {
      row.status = 'failed'
      row.finished_at = formatTimestamp(Date.now())
      row.error = { detail }
      await deleteEntries(tx, syncId)
      // Repeated failures, one every half hour, are reported once.
      if ((await endedBefore(tx, syncId))?.status === 'failed') return
      const kind = 'roster.scim_sync_failed'
      await this.#deps.governance.append(tx, tenant, {
        kind,
        subject: `sync:${syncId}`,
        details: syncDetails(row),
        actor,
      })
    })
  }

  /** Takes back the try: the worker stops for a reason outside the sync. */
  async #giveUp({ tenant, syncId, attempt }: SyncAttempt): Promise<void> {
    await this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const row = await lockAttempt(tx, syncId, attempt)
      if (!row) return
      row.position = { ...row.position, tries: Math.max(0, row.position.tries - 1) }
      await saveSync(tx, row)
    })
  }

  /** Handles the error of an attempt; throws one that needs a retry. */
  async #settle(attempt: SyncAttempt, thrown: unknown): Promise<void> {
    const { tenant, syncId } = attempt
    if (thrown instanceof SyncEndedError) return
    if (attempt.signal.aborted) {
      await this.#giveUp(attempt).catch((err: unknown) =>
        this.#deps.log.warn({ err }, 'a sync of the roster could not be marked as failed'),
      )
      throw thrown
    }
    if (isUnavailable(thrown)) throw thrown
    if (thrown instanceof TimeSliceEnded) return this.#endTurn(attempt, thrown.next)
    const isExpected = thrown instanceof SyncFailed
    if (!isExpected)
      this.#deps.log.error({ err: thrown, tenant: tenant.slug, sync: syncId }, 'a sync of the roster failed')
    const unknown = 'The sync failed with an unexpected error. Give the operator the id of the sync.'
    await this.#fail(attempt, isExpected ? thrown.message : unknown)
  }
}

/** Throws {@link SyncFailed} if continuing is pointless. */
function requireHope({ row, ...state }: { row: SyncRow; isSame: boolean; isTokenGone: boolean }): void {
  const { isSame, isTokenGone } = state
  const { tries, phase } = row.position
  if (isTokenGone) {
    throw new SyncFailed(
      'The token of the directory was lost when the key of the tenant was destroyed. Set it again with POST ' +
        '/api/v1/identity/scim/configure.',
    )
  }
  if (!isSame) throw new SyncFailed('The configuration of SCIM changed after the sync was requested.')
  if (tries > rosterPullTriesMax) {
    throw new SyncFailed(`The sync failed ${rosterPullTriesMax} times at the same position.`)
  }
  const isReading = phase === 'users' || phase === 'groups'
  const readForMs = Date.now() - Date.parse(row.started_at ?? row.created_at)
  if (isReading && readForMs > rosterPullHoursMax * 3_600_000) {
    throw new SyncFailed(`The directory could not be read in ${rosterPullHoursMax} hours: it answers too slowly.`)
  }
}
