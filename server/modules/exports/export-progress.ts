import type { Database, DatabaseLog } from '../../db/database.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { type Attempt, saveProgress } from './export-attempt-store.ts'
import { timeAt } from './export-response.ts'
import type { ExportProgress } from './exports-types.ts'

const saveMs = 1000

export interface Progress {
  /** Records progress for readers of the export, at no cost. */
  note: ExportProgress
  /** Stops saving. */
  stop(): Promise<void>
}

/**
 * Saves the progress of an attempt and its estimated completion once a second. It thereby detects that the export was
 * cancelled, or taken over by another attempt.
 */
export function watchProgress(deps: {
  database: Database
  clock: RecordClock
  log: DatabaseLog
  tenantId: string
  attempt: Attempt
  /** Called when the attempt no longer counts. */
  lost(): void
}): Progress {
  const { database, clock, attempt } = deps
  const startedAt = clock.next().micros
  let done = 0
  let total = 0
  let share = 0
  let saving: Promise<void> | undefined

  async function save(): Promise<void> {
    const { micros } = clock.next()
    const left = share === 0 ? 0 : ((micros - startedAt) / share) * (1 - share)
    const progress = { done, total, estimatedCompletionAt: timeAt(micros + Math.max(left, saveMs * 1000)) }
    try {
      if (!(await database.withTenant(deps.tenantId, (tx) => saveProgress(tx, attempt, progress)))) deps.lost()
    } catch (error) {
      deps.log.warn({ err: error, export: attempt.jobId }, 'the progress of an export was not saved')
    }
  }

  const timer = setInterval(() => {
    saving ??= save().finally(() => {
      saving = undefined
    })
  }, saveMs)

  return {
    async note(newDone, newTotal, newShare = newTotal === 0 ? 0 : newDone / newTotal) {
      done = newDone
      total = newTotal
      share = newShare
    },
    async stop() {
      clearInterval(timer)
      await saving
    },
  }
}
