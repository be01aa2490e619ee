import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { DomainError } from '../../../contract/domain-error.ts'
import { checkRecords } from './batch-verifier.ts'
import { sizeOf, type VerificationTask } from './verification-task.ts'

export interface VerificationPool {
  /**
   * For each record the sum of the checks that it passed (see `checkRecords`).
   *
   * @throws DomainError `hub-unavailable` when as much as it takes is being verified, or waits to be
   */
  check(task: VerificationTask): Promise<Uint8Array>
  /** Ends the threads once what they do is done. */
  close(): Promise<void>
}

/** What is checked at once, without another thread: measured, 20 records of 4 seals take 0.6 ms, one record 0.1. */
const inlineRecordsMax = 20
const inlineSealsMax = 4
const inlineSizeMax = 64 * 1024

/** Texts that are being verified or wait for it, in UTF-16 units: four pages of the largest records. */
const pendingSizeMax = 64 * 1024 * 1024
const pendingTasksMax = 64
/** A thread that has nothing to do is not kept. */
const idleMs = 60_000

/**
 * Threads that verify records, so that the thread of the requests goes on meanwhile: the signatures of 1,000 seals
 * take some 60 ms. They are started when first needed. One that dies is replaced, and what it did is done again once.
 */
export function createVerificationPool(
  options: { entry?: URL; threads?: number; pendingSize?: number } = {},
): VerificationPool {
  const {
    entry = new URL('./verification-worker.ts', import.meta.url),
    threads = Math.max(1, Math.min(4, availableParallelism() - 1)),
    pendingSize = pendingSizeMax,
  } = options
  let threadPool: Piscina<VerificationTask, Uint8Array> | undefined
  let pendingTasks = 0
  let pendingTexts = 0

  const start = () =>
    new Piscina<VerificationTask, Uint8Array>({
      filename: entry.href,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: idleMs,
      // The profile, and what else the process was started with, are its own.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })

  async function checkElsewhere(task: VerificationTask): Promise<Uint8Array> {
    threadPool ??= start()
    try {
      return await threadPool.run(task)
    } catch {
      return threadPool.run(task)
    }
  }

  return {
    async check(task) {
      const size = sizeOf(task)
      const { records, seals } = task
      const isSmall =
        records.recordId.length <= inlineRecordsMax && seals.sealId.length <= inlineSealsMax && size <= inlineSizeMax
      if (isSmall) return checkRecords(task)
      // One alone is always taken, however large.
      if (pendingTasks >= pendingTasksMax || (pendingTasks > 0 && pendingTexts + size > pendingSize)) throw overloaded()
      pendingTasks += 1
      pendingTexts += size
      try {
        return await checkElsewhere(task)
      } finally {
        pendingTasks -= 1
        pendingTexts -= size
      }
    },

    async close() {
      await threadPool?.close({ force: false })
    },
  }
}

function overloaded(): DomainError {
  return new DomainError('hub-unavailable', 'Too many records are being verified just now. Try again shortly.', {
    retryAfterSeconds: 1,
  })
}
