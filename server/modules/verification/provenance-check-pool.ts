import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { DomainError } from '../../../contract/domain-error.ts'
import { checkRecords, sizeOf, type VerificationTask } from './provenance-check.ts'

export interface VerificationPool {
  /**
   * Returns for each record the sum of the checks that it passed (see `checkRecords`).
   *
   * @throws DomainError `hub-unavailable` if too much verification is running or waiting
   */
  check(task: VerificationTask): Promise<Uint8Array>
  /** Stops the threads after their current work. */
  close(): Promise<void>
}

/** Maximum work without another thread. Measured: 20 records of 4 seals take 0.6 ms, one record 0.1 ms. */
const inlineRecordsMax = 20
const inlineSealsMax = 4
const inlineSizeMax = 64 * 1024

/** Maximum size of running and waiting texts in UTF-16 units: four pages of the largest records. */
const pendingSizeMax = 64 * 1024 * 1024
const pendingTasksMax = 64
/** Milliseconds after which an idle thread ends. */
const idleMs = 60_000

/**
 * Creates the pool of threads that verify records, so that the request thread is not blocked: the signatures of 1,000
 * seals take some 60 ms. Threads start on demand. A thread that dies is replaced, and its work is repeated once.
 */
export function createVerificationPool(
  options: { entry?: URL; threads?: number; pendingSize?: number } = {},
): VerificationPool {
  const {
    entry = new URL('./provenance-check-worker.ts', import.meta.url),
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
      // Threads do not inherit the options of the process, such as profiling.
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
      // A single task is always accepted, regardless of its size.
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
  return new DomainError('hub-unavailable', 'Too many records are being verified at the moment. Try again shortly.', {
    retryAfterSeconds: 1,
  })
}
