import { AsyncLocalStorage } from 'node:async_hooks'
import { DomainError } from '../../contract/domain-error.ts'
import type { ClassRules } from './fair-queue.ts'

/** The class of a transaction. Classes share connections and have limits of their own. */
export type WorkClass = 'read' | 'write' | 'summary' | 'search' | 'background' | 'ingest'

/** Limits of one class. */
interface WorkLimits {
  /** Milliseconds that one statement may take. */
  readonly statementMs: number
  /** Milliseconds that a transaction may wait for a connection. */
  readonly waitMs: number
  /** Advice for a caller whose statement took too long. */
  readonly remedy: string
}

const tryAgain = 'Try again shortly.'

/** The limits of each class. A session has `statementMs` of `write`; transactions of other classes set their own. */
export const workLimits: Readonly<Record<WorkClass, WorkLimits>> = {
  read: {
    statementMs: 15_000,
    waitMs: 5_000,
    remedy: 'Request less: a smaller `limit`, a shorter time range, or another filter.',
  },
  write: { statementMs: 30_000, waitMs: 5_000, remedy: tryAgain },
  summary: {
    statementMs: 20_000,
    waitMs: 10_000,
    remedy:
      'Narrow the summary: a shorter range (`from`, `to`), `interval=day` instead of `hour`, no `group_by`, or ' +
      'another filter such as `skill_id`.',
  },
  search: {
    statementMs: 2_000,
    waitMs: 5_000,
    remedy: 'Search for fewer or for rarer words, or narrow the search by type, skill or time.',
  },
  background: { statementMs: 30_000, waitMs: 30_000, remedy: tryAgain },
  ingest: { statementMs: 15_000, waitMs: 5_000, remedy: 'Send fewer events in one batch, or try again shortly.' },
}

/** Seconds after which a refused caller may retry. */
const retryAfterSeconds = 5

/** Returns the error for a statement that exceeded the time limit of its class, or that an administrator cancelled. */
export function tookTooLong(workClass: WorkClass, cause: unknown): DomainError {
  const detail = `The query took too long. ${workLimits[workClass].remedy}`
  return new DomainError('hub-unavailable', detail, { retryAfterSeconds, cause })
}

/** Returns the error for a transaction that waited too long for a connection. Metrics count it, so the log does not. */
export function waitedTooLong(workClass: WorkClass): DomainError {
  const seconds = workLimits[workClass].waitMs / 1000
  const advice =
    workClass === 'summary'
      ? 'Request fewer summaries at a time, then try again.'
      : 'Send fewer requests at a time, then try again.'
  const detail = `No database connection was free within ${seconds} s. ${advice}`
  return new DomainError('hub-unavailable', detail, { retryAfterSeconds, logged: false })
}

/**
 * Returns the number of transactions that may use a pool of this size. A tenant leaves a quarter of the pool to the
 * others. Summaries, searches and background work have long statements, so they leave connections to short ones.
 */
export function shareRules(connections: number): {
  slots: number
  ofTenant: number
  classes: Record<WorkClass, ClassRules>
} {
  const share = (part: number) => Math.max(1, Math.floor(connections * part))
  const ofTenant = Math.max(1, connections - Math.ceil(connections / 4))
  const summaries = share(1 / 4)
  // Allows two per tenant if possible, because a page of the web UI requests several.
  const summariesOfTenant = Math.max(share(1 / 10), Math.min(2, summaries))
  const rulesOf = (workClass: WorkClass, all: number, tenantMax: number): ClassRules => {
    const { waitMs } = workLimits[workClass]
    return { all, ofTenant: tenantMax, waitMs, rejection: () => waitedTooLong(workClass) }
  }
  return {
    slots: connections,
    ofTenant,
    classes: {
      read: rulesOf('read', connections, ofTenant),
      write: rulesOf('write', connections, ofTenant),
      summary: rulesOf('summary', summaries, summariesOfTenant),
      search: rulesOf('search', share(1 / 4), summariesOfTenant),
      background: rulesOf('background', share(1 / 2), share(1 / 4)),
      ingest: rulesOf('ingest', connections, ofTenant),
    },
  }
}

const ambient = new AsyncLocalStorage<'background'>()

/** Runs work whose transactions, and those of all work it starts, have the class `background`. */
export function inBackground<T>(work: () => T): T {
  return ambient.run('background', work)
}

/** Returns the class of a transaction opened here. */
export function workClassOf(mode: {
  readonly readOnly?: boolean
  readonly summary?: boolean
  readonly search?: boolean
}): WorkClass {
  const own = mode.summary ? 'summary' : mode.search ? 'search' : mode.readOnly ? 'read' : 'write'
  return ambient.getStore() ?? own
}
