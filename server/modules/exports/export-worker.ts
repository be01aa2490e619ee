import { DomainError, isUnavailable } from '../../../contract/domain-error.ts'
import { exportHours, exportRunHoursMax, exportsAtOnce, exportTriesMax } from '../../../contract/limits.ts'
import { readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { JobDefinition } from '../../jobs/queue.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import { type Attempt, beginAttempt, completeExport, failExport, giveUpAttempt } from './export-attempt-store.ts'
import type { ExportFileStore } from './export-file-store.ts'
import { AttemptProgress } from './export-progress.ts'
import type { ExportQuotas } from './export-quota.ts'
import { timeAt } from './export-response.ts'
import { findExport, orderOf } from './exports-store.ts'
import type { ExportRequest, ExportWriter } from './exports-types.ts'

/** The export was cancelled, has expired, or was taken over by another attempt. */
class AttemptOver extends Error {}
/** The worker must stop; the export starts again later. */
class WorkerStops extends Error {}

const hourMicros = 3_600_000_000

interface WorkerDeps extends Pick<ModuleParts, 'database' | 'clock' | 'governance' | 'directory' | 'log'> {
  writer: ExportWriter
  files: ExportFileStore
  disk: Pick<DiskSpace, 'requireRoom'>
  quotas: Pick<ExportQuotas, 'reserve'>
}

interface BegunAttempt extends Attempt {
  tenant: Tenant
  order: ExportRequest
  tries: number
  /** The number of destructions of keys so far. */
  destructions: number
}

export const exportJobName = 'export'

export function exportJobData(tenantId: string, jobId: string): object {
  return { tenant: tenantId, job_id: jobId }
}

/** A number that no export reaches in its time: the export's own count of tries decides, not the queue's. */
const retryLimit = 1000

/** Writes exports and keeps their state. */
export class ExportWorker {
  readonly #deps: WorkerDeps
  readonly #stopping = new AbortController()
  readonly #running = new Map<string, AbortController>()

  constructor(deps: WorkerDeps) {
    this.#deps = deps
  }

  /** The job that writes an export; an interrupted attempt is retried. */
  get job(): JobDefinition {
    return {
      name: exportJobName,
      retryLimit,
      retryDelaySeconds: 1,
      pollingIntervalSeconds: 1,
      sideBySide: { all: exportsAtOnce.all, ofGroup: exportsAtOnce.ofTenant },
      secondsMax: exportRunHoursMax * 3600 - 60,
      handler: async ({ data, signal }) => {
        const { tenant, job_id: jobId } = data as { tenant: string; job_id: string }
        await this.#run(tenant, jobId, signal)
      },
    }
  }

  /** Stops the attempt in this process, if any, because nobody wants it any more. */
  stopAttempt(jobId: string): void {
    this.#running.get(jobId)?.abort(new AttemptOver())
  }

  /** Stops all attempts; they are retried, here or elsewhere. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Runs one attempt. Throws the error of an attempt that must be retried. */
  async #run(tenantId: string, jobId: string, signal: AbortSignal): Promise<void> {
    if (this.#stopping.signal.aborted) throw new WorkerStops('the worker stops')
    const tenant = await this.#deps.directory.find(tenantId, { evenSuspended: true })
    const attempt = tenant && (await this.#begin(tenant, jobId))
    if (!attempt) return
    // The export's processes have died too often while writing it.
    if (attempt.tries > exportTriesMax) return this.#fail(attempt, undefined)
    const over = new AbortController()
    this.#running.set(jobId, over)
    const stops = stopSignal(AbortSignal.any([signal, this.#stopping.signal]))
    try {
      await this.#write(attempt, over, AbortSignal.any([over.signal, stops]))
    } catch (thrown) {
      const error = over.signal.aborted ? over.signal.reason : stops.aborted ? stops.reason : thrown
      if (await this.#settle(attempt, error)) throw error
    } finally {
      if (this.#running.get(jobId) === over) this.#running.delete(jobId)
    }
  }

  #begin(tenant: Tenant, jobId: string): Promise<BegunAttempt | undefined> {
    const { database, clock } = this.#deps
    return database.withTenant(tenant.slug, async (tx) => {
      // Takes this lock first, as a destruction of keys does. Another process may have destroyed keys that are still
      // cached here.
      const destructions = await tx.contents.destructions(tx)
      const begun = await beginAttempt(tx, jobId, clock.next().createdAt)
      const row = begun && (await findExport(tx, jobId))
      return row && { tenant, jobId, order: orderOf(row), attempt: row.attempt, tries: row.tries, destructions }
    })
  }

  async #write(attempt: BegunAttempt, over: AbortController, signal: AbortSignal): Promise<void> {
    const { database, clock, writer, files, disk, quotas } = this.#deps
    const { tenant, order } = attempt
    // Deletes the files of the former attempt; if that is still running, it now fails.
    if (attempt.attempt > 1) await files.remove(tenant.slug, order)
    await disk.requireRoom()
    const reserve = async (bytes: number) => {
      await disk.requireRoom()
      const { micros } = clock.next()
      const reserved = await database.withTenant(tenant.slug, (tx) => quotas.reserve(tx, attempt, bytes, micros))
      if (reserved === undefined) throw new AttemptOver()
      return reserved
    }
    const progress = new AttemptProgress({
      ...this.#deps,
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
        if ((await tx.contents.destructions(tx)) !== attempt.destructions) throw keyDestroyed()
        return completeExport(tx, attempt, completion)
      })
      if (!counted) throw new AttemptOver()
    } finally {
      await progress.stop()
    }
  }

  async #fail(attempt: BegunAttempt, cause: unknown): Promise<void> {
    const { database, files, governance, log } = this.#deps
    const { tenant, order } = attempt
    const error = problemOf(cause)
    const counted = await database.withTenant(tenant.slug, async (tx) => {
      if (!(await failExport(tx, attempt, error))) return false
      await governance.append(tx, tenant, {
        kind: 'hub.export_failed',
        subject: `export:${order.jobId}`,
        details: { format: order.format, error: error.slug, reason: error.detail },
        actor: { service: 'exports' },
      })
      return true
    })
    if (!counted) return this.#removeUnlessTaken(attempt)
    log.error({ err: cause, tenant: tenant.slug, export: order.jobId }, 'an export failed')
    await files.remove(tenant.slug, order)
  }

  /** Handles a failed attempt, and returns whether to retry it. */
  async #settle(attempt: BegunAttempt, error: unknown): Promise<boolean> {
    if (error instanceof AttemptOver) {
      await this.#removeUnlessTaken(attempt)
      return false
    }
    const stops = error instanceof WorkerStops
    // An impossible export is not retried, unlike one whose database or storage is away.
    if (!stops && (!isUnavailable(error) || attempt.tries >= exportTriesMax)) {
      await this.#fail(attempt, error)
      return false
    }
    const waits = await this.#deps.database
      .withTenant(attempt.tenant.slug, (tx) => giveUpAttempt(tx, attempt, { counts: !stops }))
      .catch((err: unknown) => {
        // The next attempt takes over the unchanged row.
        this.#deps.log.warn({ err }, 'an export could not be marked as failed')
        return true
      })
    // The cause may be that its files were deleted, because it was cancelled.
    if (!waits) await this.#removeUnlessTaken(attempt)
    return waits
  }

  async #removeUnlessTaken({ tenant, order, attempt }: BegunAttempt): Promise<void> {
    const { database, files } = this.#deps
    const row = await readTenant(database, tenant.slug, (tx) => findExport(tx, order.jobId))
    if (row?.attempt === attempt) await files.remove(tenant.slug, order)
  }
}

function stopSignal(signal: AbortSignal): AbortSignal {
  const stops = new AbortController()
  const stop = () => stops.abort(new WorkerStops('the worker stops'))
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return stops.signal
}

/** Returns the error for an export whose files may contain content under a destroyed key. */
function keyDestroyed(): DomainError {
  return new DomainError(
    'concurrent-modification',
    'A key of the tenant was destroyed while the export ran. Request the export again.',
  )
}

function problemOf(error: unknown): { slug: string; detail: string } {
  if (error instanceof DomainError) return { slug: error.slug, detail: error.message }
  const detail = 'The export failed with an unexpected error. Give the operator the id of the export.'
  return { slug: 'internal', detail }
}
