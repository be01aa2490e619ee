import { setTimeout as delay } from 'node:timers/promises'
import type { Database, DatabaseLog, RegistryTx } from './database.ts'
import { unavailable } from './database-errors.ts'

/** Milliseconds that a request waits for the read that it needs. */
const waitMsMax = 2_000
/** Milliseconds after which a read counts as stuck, and another one starts. */
const lookMsMax = 10_000
/** Minimum milliseconds between reads, regardless of the number of wake-ups. */
const looksApartMs = 50

/** Polls the database and refreshes the in-memory snapshot. */
export interface SnapshotPoller {
  /** Returns whether the last read is recent enough to answer from. Every request calls it. */
  isFresh(): boolean
  /**
   * Reads first, unless the snapshot is fresh. Throws `hub-unavailable` if the database does not answer within two
   * seconds.
   */
  fresh(): Promise<void>
  /** Reads now, and sees everything that was committed before. */
  look(): Promise<void>
  /** Reads soon, because something may have changed. */
  wake(): void
  /** Reads regularly from now on, without keeping the process alive. */
  start(): void
  /** Stops polling, and waits for a running read. */
  close(): Promise<void>
}

export interface SnapshotPollerOptions<Found> {
  database: Pick<Database, 'withRegistry'>
  log: DatabaseLog
  /** The name of the snapshot, for the log. */
  subject: string
  everyMs: number
  freshMs: number
  /** Reads the current state. */
  read(tx: RegistryTx): Promise<Found>
  /** Applies a state; each is newer than the one before. */
  take(found: Found): void
  /** A clock in milliseconds that replaces both clocks of the machine. */
  now?: (() => number) | undefined
}

export function createSnapshotPoller<Found>(options: SnapshotPollerOptions<Found>): SnapshotPoller {
  const { database, log, subject, everyMs, freshMs, read, take } = options
  // The steady clock stops while the machine sleeps; the wall clock may be set.
  const steadyNow = options.now ?? (() => performance.now())
  const wallNow = options.now ?? Date.now
  /** The time at which the last successful read started. */
  let askedAt = { steady: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
  let current: { begunAt: number; done: Promise<void> } | undefined
  let lookTimer: NodeJS.Timeout | undefined
  let wakeTimer: NodeJS.Timeout | undefined
  let closed = false

  const isFresh = () => steadyNow() - askedAt.steady <= freshMs && Math.abs(wallNow() - askedAt.wall) <= freshMs

  async function lookOnce(): Promise<void> {
    let at = askedAt
    const found = await database.withRegistry((tx) => {
      at = { steady: steadyNow(), wall: wallNow() }
      return read(tx)
    })
    // A later read may have overtaken this one.
    if (at.steady < askedAt.steady) return
    take(found)
    askedAt = at
  }

  /** Reads once at a time; all callers share the result. */
  function look(): Promise<void> {
    if (current && performance.now() - current.begunAt < lookMsMax) return current.done
    const begun = { begunAt: performance.now(), done: lookOnce() }
    current = begun
    const end = () => {
      if (current === begun) current = undefined
    }
    begun.done.then(end, end)
    return begun.done
  }

  function lookBeside(): void {
    look().catch((error: unknown) => log.warn({ err: error }, `could not reload ${subject}`))
  }

  return {
    isFresh,
    async look() {
      // A running read may have started before the state that the caller needs.
      await current?.done.catch(() => {})
      await look()
    },
    async fresh() {
      const giveUp = new AbortController()
      const tooLate = delay(waitMsMax, undefined, { signal: giveUp.signal }).then(() => {
        throw unavailable(new Error(`${subject} could not be read in time`))
      })
      tooLate.catch(() => {})
      try {
        // Repeats, because a running read may have started too long ago.
        while (!isFresh()) await Promise.race([look(), tooLate])
      } finally {
        giveUp.abort()
      }
    },
    wake() {
      if (closed || wakeTimer) return
      wakeTimer = setTimeout(async () => {
        // The change that woke the poller may be newer than the running read.
        await current?.done.catch(() => {})
        wakeTimer = undefined
        if (!closed) lookBeside()
      }, looksApartMs).unref()
    },
    start() {
      if (!closed) lookTimer ??= setInterval(lookBeside, everyMs).unref()
    },
    async close() {
      closed = true
      clearInterval(lookTimer)
      clearTimeout(wakeTimer)
      await current?.done.catch(() => {})
    },
  }
}
