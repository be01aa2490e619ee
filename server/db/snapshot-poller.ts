import { setTimeout as delay } from 'node:timers/promises'
import type { Database, DatabaseLog, RegistryTx } from './database.ts'
import { unavailable } from './database-errors.ts'

/** How long a request waits for the look that it needs. */
const waitMsMax = 2_000
/** A look that takes longer may never end: another one is begun. */
const lookMsMax = 10_000
/** However often it is woken. */
const looksApartMs = 50

/** Keeps what a process has in memory true to the database. */
export interface SnapshotPoller {
  /** Whether the last look is recent enough to answer from. It is asked for every request. */
  isFresh(): boolean
  /** Looks first, unless it is fresh. Throws `hub-unavailable` when the database does not answer within two seconds. */
  fresh(): Promise<void>
  /** Looks now, and sees whatever was committed before. */
  look(): Promise<void>
  /** Looks soon, because something may have changed. */
  wake(): void
  /** Looks regularly from now on, which does not keep the process alive. */
  start(): void
  /** Ends it, and waits for a look that is under way. */
  close(): Promise<void>
}

export interface SnapshotPollerOptions<Found> {
  database: Pick<Database, 'withRegistry'>
  log: DatabaseLog
  /** What is looked at, for the log. */
  subject: string
  everyMs: number
  freshMs: number
  /** Reads what there is to know. */
  read(tx: RegistryTx): Promise<Found>
  /** Takes it over: each time something newer than before. */
  take(found: Found): void
  /** A clock in milliseconds, instead of the two of the machine. */
  now?: (() => number) | undefined
}

export function createSnapshotPoller<Found>(options: SnapshotPollerOptions<Found>): SnapshotPoller {
  const { database, log, subject, everyMs, freshMs, read, take } = options
  // One of them stands still while the machine sleeps, the other one may be set.
  const steadyNow = options.now ?? (() => performance.now())
  const wallNow = options.now ?? Date.now
  /** When the last look that succeeded asked the database. */
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
    // Of two looks, one may have been overtaken by the other.
    if (at.steady < askedAt.steady) return
    take(found)
    askedAt = at
  }

  /** One at a time, shared by all who wait. */
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
    look().catch((error: unknown) => log.warn({ err: error }, `${subject} could not be read anew`))
  }

  return {
    isFresh,
    async look() {
      // One that is under way may have asked before what the caller wants to see.
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
        // More than once where one was under way, which may have asked long ago.
        while (!isFresh()) await Promise.race([look(), tooLate])
      } finally {
        giveUp.abort()
      }
    },
    wake() {
      if (closed || wakeTimer) return
      wakeTimer = setTimeout(async () => {
        // What woke it may be newer than what that one read.
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
