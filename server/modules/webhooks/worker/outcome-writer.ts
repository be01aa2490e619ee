import { backoff } from '../../../../contract/backoff.ts'
import { isUnavailable } from '../../../../contract/domain-error.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { Outcome } from './outcome-store.ts'

const retryMs = { first: 500, max: 15_000 }
/** Number of outcomes that are written at once, without waiting for more. */
const plenty = 200
const writtenAtOnce = 1_000

/** Gathers outcomes of a tenant, and saves many in one transaction. */
export interface OutcomeWriter {
  /** Resolves once the outcome is stored; never rejects. */
  add(outcome: Outcome): Promise<void>
  /** Whether the last write failed. Until one succeeds, no attempt should start whose outcome could not be saved. */
  readonly isStuck: boolean
  readonly waiting: number
  /** Tries once to save the waiting outcomes, and ends. Attempts whose outcomes are lost are repeated. */
  close(): Promise<void>
}

interface Waiting {
  outcome: Outcome
  kept: () => void
}

export function createOutcomeWriter(deps: {
  /** Saves outcomes in one transaction. */
  write: (outcomes: readonly Outcome[]) => Promise<void>
  /**
   * Called after each write that succeeded.
   *
   * @param wasStuck whether the previous write failed
   */
  written: (wasStuck: boolean) => void
  gatherMs: number
  log: Pick<DatabaseLog, 'warn' | 'error'>
}): OutcomeWriter {
  const { write, written, gatherMs, log } = deps
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let failures = 0
  let isClosed = false

  function schedule(): void {
    if (isClosed || writing || waiting.length === 0) return
    if (failures === 0 && waiting.length >= plenty) return void begin()
    const pauseMs = failures === 0 ? gatherMs : backoff(failures - 1, retryMs)
    timer ??= setTimeout(begin, pauseMs).unref()
  }

  function begin(): void {
    clearTimeout(timer)
    timer = undefined
    writing = writeSome().finally(() => {
      writing = undefined
      schedule()
    })
  }

  async function writeSome(): Promise<void> {
    const some = waiting.slice(0, writtenAtOnce)
    try {
      await write(some.map(({ outcome }) => outcome))
    } catch (error) {
      failures += 1
      const isAway = isUnavailable(error)
      if (isAway) log.warn({ err: error }, 'delivery outcomes cannot be stored while the database is unavailable')
      else log.error({ err: error }, 'could not store delivery outcomes')
      return
    }
    waiting = waiting.slice(some.length)
    for (const { kept } of some) kept()
    const wasStuck = failures > 0
    failures = 0
    written(wasStuck)
  }

  return {
    add(outcome) {
      return new Promise((kept) => {
        waiting.push({ outcome, kept })
        schedule()
      })
    },
    get isStuck() {
      return failures > 0
    },
    get waiting() {
      return waiting.length
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await writing
      failures = 0
      while (waiting.length > 0 && failures === 0) await writeSome()
      for (const { kept } of waiting.splice(0)) kept()
    },
  }
}
