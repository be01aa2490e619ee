import type { ModuleParts } from '../../module-parts.ts'
import { type Attempt, saveProgress } from './export-attempt-store.ts'
import { timeAt } from './export-response.ts'
import type { ExportProgress } from './exports-types.ts'

const saveMs = 1000

interface ProgressDeps extends Pick<ModuleParts, 'database' | 'clock' | 'log'> {
  tenantId: string
  attempt: Attempt
  /** Called when the attempt no longer counts. */
  lost(): void
}

/**
 * Saves the progress of an attempt and its estimated completion once a second. It thereby detects that the export was
 * cancelled, or taken over by another attempt.
 */
export class AttemptProgress {
  readonly #deps: ProgressDeps
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  #latest = { done: 0, total: 0, share: 0 }
  #saving: Promise<void> | undefined

  constructor(deps: ProgressDeps) {
    this.#deps = deps
    this.#startedAt = deps.clock.next().micros
    this.#timer = setInterval(() => {
      this.#saving ??= this.#save().finally(() => {
        this.#saving = undefined
      })
    }, saveMs)
  }

  /** Records progress for readers of the export, at no cost. */
  readonly note: ExportProgress = async (done, total, share = total === 0 ? 0 : done / total) => {
    this.#latest = { done, total, share }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#saving
  }

  async #save(): Promise<void> {
    const { database, clock, log, tenantId, attempt, lost } = this.#deps
    const { micros } = clock.next()
    const { done, total, share } = this.#latest
    const left = share === 0 ? 0 : ((micros - this.#startedAt) / share) * (1 - share)
    const progress = { done, total, estimatedCompletionAt: timeAt(micros + Math.max(left, saveMs * 1000)) }
    try {
      if (!(await database.withTenant(tenantId, (tx) => saveProgress(tx, attempt, progress)))) lost()
    } catch (error) {
      log.warn({ err: error, export: attempt.jobId }, 'the progress of an export was not saved')
    }
  }
}
