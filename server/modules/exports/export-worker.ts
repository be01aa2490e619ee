import { DomainError, isUnavailable } from '../../../contract/domain-error.ts'
import { exportHours, exportTriesMax } from '../../../contract/limits.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { type Attempt, beginAttempt, completeExport, failExport, giveUpAttempt } from './export-attempt-store.ts'
import type { ExportFileStore } from './export-file-store.ts'
import { watchProgress } from './export-progress.ts'
import type { ExportQuotas } from './export-quota.ts'
import { orderOf, timeAt } from './export-response.ts'
import { findExport } from './exports-store.ts'
import type { ExportOrder, ExportWriter } from './exports-types.ts'

/** The export was cancelled, has expired, or was taken over by another attempt. */
class AttemptOver extends Error {}
/** The worker must stop; the export starts again later. */
class WorkerStops extends Error {}

const hourMicros = 3_600_000_000

/** Writes exports and keeps their state. */
export interface ExportWorker {
  /** Runs one attempt. Throws the error of an attempt that must be retried. */
  run(tenantId: string, jobId: string, signal: AbortSignal): Promise<void>
  /** Stops the attempt in this process, if any, because nobody wants it any more. */
  stopAttempt(jobId: string): void
  /** Stops all attempts; they are retried, here or elsewhere. */
  stop(): void
}

export function createExportWorker(deps: {
  database: Database
  clock: RecordClock
  writer: ExportWriter
  files: ExportFileStore
  governance: GovernanceLog
  directory: TenantDirectory
  disk: Pick<DiskSpace, 'requireRoom'>
  quotas: Pick<ExportQuotas, 'reserve'>
  log: DatabaseLog
}): ExportWorker {
  const { database, clock, writer, files, log } = deps
  const stopping = new AbortController()
  const running = new Map<string, AbortController>()

  async function begin(tenant: Tenant, jobId: string) {
    return database.withTenant(tenant.slug, async (tx) => {
      // Takes this lock first, as a destruction of keys does. Another process may have destroyed keys that are still
      // cached here.
      const destructions = await tx.contents.destructions(tx)
      const begun = await beginAttempt(tx, jobId, clock.next().createdAt)
      const row = begun && (await findExport(tx, jobId))
      return row && { order: orderOf(row), attempt: row.attempt, tries: row.tries, destructions }
    })
  }

  async function write(
    tenant: Tenant,
    order: ExportOrder,
    attempt: Attempt,
    destructions: number,
    over: AbortController,
    signal: AbortSignal,
  ) {
    // Deletes the files of the former attempt; if that is still running, it now fails.
    if (attempt.attempt > 1) await files.remove(tenant.slug, order)
    await deps.disk.requireRoom()
    const reserve = async (bytes: number) => {
      await deps.disk.requireRoom()
      const { micros } = clock.next()
      const reserved = await database.withTenant(tenant.slug, (tx) => deps.quotas.reserve(tx, attempt, bytes, micros))
      if (reserved === undefined) throw new AttemptOver()
      return reserved
    }
    const progress = watchProgress({
      ...deps,
      tenantId: tenant.slug,
      attempt,
      lost: () => over.abort(new AttemptOver()),
    })
    try {
      const written = await writer.write(tenant, order, { signal, progress: progress.note, reserve })
      signal.throwIfAborted()
      await progress.stop()
      const { micros } = clock.next()
      const completion = {
        ...written,
        completedAt: timeAt(micros),
        expiresAt: timeAt(micros + exportHours * hourMicros),
      }
      const counted = await database.withTenant(tenant.slug, async (tx) => {
        if ((await tx.contents.destructions(tx)) !== destructions) throw keyDestroyed()
        return completeExport(tx, attempt, completion)
      })
      if (!counted) throw new AttemptOver()
    } finally {
      await progress.stop()
    }
  }

  async function fail(tenant: Tenant, order: ExportOrder, attempt: Attempt, cause: unknown): Promise<void> {
    const error = problemOf(cause)
    const counted = await database.withTenant(tenant.slug, async (tx) => {
      if (!(await failExport(tx, attempt, error))) return false
      await deps.governance.append(tx, tenant, {
        kind: 'hub.export_failed',
        subject: `export:${order.jobId}`,
        details: { format: order.format, error: error.slug, reason: error.detail },
        actor: { service: 'exports' },
      })
      return true
    })
    if (!counted) return removeUnlessTaken(tenant, order, attempt)
    log.error({ err: cause, tenant: tenant.slug, export: order.jobId }, 'an export failed')
    await files.remove(tenant.slug, order)
  }

  /** Handles a failed attempt, and returns whether to retry it. */
  async function settle(tenant: Tenant, order: ExportOrder, attempt: Attempt, tries: number, error: unknown) {
    if (error instanceof AttemptOver) {
      await removeUnlessTaken(tenant, order, attempt)
      return false
    }
    const stops = error instanceof WorkerStops
    if (!stops && (!isPassing(error) || tries >= exportTriesMax)) {
      await fail(tenant, order, attempt, error)
      return false
    }
    const waits = await database
      .withTenant(tenant.slug, (tx) => giveUpAttempt(tx, attempt, { counts: !stops }))
      .catch((err: unknown) => {
        // The next attempt takes over the unchanged row.
        log.warn({ err }, 'an export could not be given up')
        return true
      })
    // The cause may be that its files were deleted, because it was cancelled.
    if (!waits) await removeUnlessTaken(tenant, order, attempt)
    return waits
  }

  async function removeUnlessTaken(tenant: Tenant, order: ExportOrder, { attempt }: Attempt): Promise<void> {
    const row = await database.withTenant(tenant.slug, (tx) => findExport(tx, order.jobId), { readOnly: true })
    if (row?.attempt === attempt) await files.remove(tenant.slug, order)
  }

  return {
    async run(tenantId, jobId, signal) {
      if (stopping.signal.aborted) throw new WorkerStops('the worker stops')
      const tenant = await deps.directory.find(tenantId, { evenSuspended: true })
      const begun = tenant && (await begin(tenant, jobId))
      if (!tenant || !begun) return
      const { order, attempt: number, tries, destructions } = begun
      const attempt = { jobId, attempt: number }
      // The export's processes have died too often while writing it.
      if (tries > exportTriesMax) return fail(tenant, order, attempt, undefined)
      const over = new AbortController()
      running.set(jobId, over)
      const stops = stopSignal(AbortSignal.any([signal, stopping.signal]))
      try {
        await write(tenant, order, attempt, destructions, over, AbortSignal.any([over.signal, stops]))
      } catch (thrown) {
        const error = over.signal.aborted ? over.signal.reason : stops.aborted ? stops.reason : thrown
        if (await settle(tenant, order, attempt, tries, error)) throw error
      } finally {
        if (running.get(jobId) === over) running.delete(jobId)
      }
    },
    stopAttempt: (jobId) => running.get(jobId)?.abort(new AttemptOver()),
    stop: () => stopping.abort(),
  }
}

function stopSignal(signal: AbortSignal): AbortSignal {
  const stops = new AbortController()
  const stop = () => stops.abort(new WorkerStops('the worker stops'))
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return stops.signal
}

/** Returns whether the database or the storage is away, as opposed to an impossible export. */
function isPassing(error: unknown): boolean {
  return isUnavailable(error)
}

/** Returns the error for an export whose files may contain content under a destroyed key. */
function keyDestroyed(): DomainError {
  return new DomainError(
    'concurrent-modification',
    'A key of the tenant was destroyed in the meantime. Request the export again.',
  )
}

function problemOf(error: unknown): { slug: string; detail: string } {
  if (error instanceof DomainError) return { slug: error.slug, detail: error.message }
  const detail = 'The export ended in an error that the Hub does not expect. Tell the operator the id of the export.'
  return { slug: 'internal', detail }
}
