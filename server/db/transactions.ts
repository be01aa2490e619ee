import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { DomainError } from '../../contract/domain-error.ts'
import {
  asServiceError,
  isRetryable,
  isRollback,
  isUnavailable,
  isWarning,
  type Notice,
  outcomeUnknown,
  unavailable,
} from './database-errors.ts'
import { FetchRequiredError, TransactionFetches } from './fetch-required.ts'
import { type IngestStep, IngestStepRejected, runScript } from './ingest-script.ts'
import type { WorkClass } from './work-classes.ts'

const attemptsMax = 3
const rollbackMsMax = 5_000
// PostgreSQL, appendix A.
const undefinedTable = '42P01'

/** The transaction that encloses the running code, if any. */
const current = new AsyncLocalStorage<{ open: boolean }>()

/** The turn of one transaction among those that share the connections of a pool. */
export interface Turn {
  readonly workClass: WorkClass
  /** Waits for a free slot; throws if that takes too long. */
  enter(): Promise<void> | undefined
  /** Returns the slot. */
  leave(): void
}

/** Lends connections; a pool does. */
export interface Connections {
  connect(): Promise<pg.PoolClient>
}

export interface TransactionScope {
  readonly client: pg.ClientBase
  afterCommit(work: () => void): void
}

/** Throws if the running code is inside a transaction: another one would hold two connections. */
function requireNoTransaction(): void {
  if (current.getStore()?.open) {
    throw new Error('a transaction was opened inside another one: pass the outer one, or use afterCommit')
  }
}

/**
 * Runs the steps of an ingest transaction on a connection of the pool, in one round trip.
 *
 * @param localSettings see {@link runScript}
 * @throws DomainError `hub-unavailable` if the database is away: the transaction may still have been committed;
 * IngestStepRejected
 */
export async function runIngest(
  pool: pg.Pool,
  turn: Turn,
  tenantId: string,
  steps: readonly IngestStep[],
  localSettings?: string,
): Promise<void> {
  requireNoTransaction()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runScriptOnce(pool, turn, tenantId, steps, localSettings)
    } catch (error) {
      if (error instanceof DomainError) throw error
      if (!(error instanceof IngestStepRejected)) throw unavailable(error)
      const known = asServiceError(error.cause, turn.workClass)
      if (known !== error.cause) throw known
      // The month's partition is missing. No event caused that, and the next hour may create it.
      if (error.code === undefinedTable) throw unavailable(error)
      if (!isRetryable(error.cause) || attempt === attemptsMax) throw error
      await delay(attempt * 10 + Math.random() * 20)
    }
  }
}

async function runScriptOnce(
  pool: pg.Pool,
  turn: Turn,
  tenantId: string,
  steps: readonly IngestStep[],
  localSettings: string | undefined,
): Promise<void> {
  await turn.enter()
  try {
    const client = await pool.connect()
    try {
      await runScript(client, tenantId, steps, localSettings)
      client.release()
    } catch (error) {
      // A refused step leaves the connection usable: the implicit transaction has ended.
      const isRefused = error instanceof IngestStepRejected
      client.release(!isRefused)
      // Without a refusal the transaction may have been committed, so a retry with other ids could duplicate it.
      throw isRefused ? error : outcomeUnknown(error)
    }
  } finally {
    turn.leave()
  }
}

/**
 * Runs `work` in a transaction on a connection of the pool.
 *
 * @param opening the SQL that begins it, in one round trip with every setting that must come first
 * @param attempts the number of times that it runs at most, after deadlocks and serialization failures
 * @throws DomainError `hub-unavailable` if the database is away, or does not confirm that the transaction is committed
 * and durable; any error of `work`; an Error if `work` runs inside another transaction
 */
export async function runTransaction<T>(
  pool: Connections,
  turn: Turn,
  opening: string,
  work: (scope: TransactionScope) => Promise<T>,
  attempts = attemptsMax,
): Promise<T> {
  requireNoTransaction()
  const fetches = new TransactionFetches()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runInTurn(pool, turn, opening, work)
    } catch (error) {
      if (error instanceof FetchRequiredError && fetches.allows(error)) {
        attempt -= 1
        await error.fetch()
        continue
      }
      if (!isRetryable(error) || attempt === attempts) throw asServiceError(error, turn.workClass)
      // The random delay avoids another collision with the same transaction.
      await delay(attempt * 10 + Math.random() * 20)
    }
  }
}

async function runInTurn<T>(
  pool: Connections,
  turn: Turn,
  opening: string,
  work: (scope: TransactionScope) => Promise<T>,
): Promise<T> {
  await turn.enter()
  try {
    return await runOnce(pool, opening, work)
  } finally {
    turn.leave()
  }
}

async function runOnce<T>(
  pool: Connections,
  opening: string,
  work: (scope: TransactionScope) => Promise<T>,
): Promise<T> {
  const client = await begin(pool, opening)
  const state = { open: true }
  const committed: (() => void)[] = []
  let result: T
  let warning: Notice | undefined
  try {
    result = await current.run(state, () => work({ client, afterCommit: (then) => committed.push(then) }))
    warning = await commit(client)
  } catch (error) {
    await abandon(client, error)
    throw error
  } finally {
    state.open = false
  }
  client.release()
  for (const then of committed) then()
  if (warning) throw outcomeUnknown(new Error(warning.message))
  return result
}

/**
 * Commits. Returns the warning if PostgreSQL gave one: the transaction is visible then, but may not be durable.
 *
 * @throws the error that rolled the transaction back; DomainError `hub-unavailable` after any other error
 */
async function commit(client: pg.ClientBase): Promise<Notice | undefined> {
  let warning: Notice | undefined
  const onNotice = (notice: Notice) => {
    if (isWarning(notice)) warning = notice
  }
  client.on('notice', onNotice)
  const { command } = await client
    .query('commit')
    .catch((error: unknown) => {
      throw isRollback(error) ? error : outcomeUnknown(error)
    })
    .finally(() => client.off('notice', onNotice))
  if (command !== 'COMMIT') throw new Error('a failed statement was ignored, so PostgreSQL rolled back')
  return warning
}

/**
 * Begins a transaction. A connection that died while idle shows only now; a second one is fresh, because the pool drops
 * dead ones.
 */
async function begin(pool: Connections, opening: string): Promise<pg.PoolClient> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect()
    try {
      await client.query(opening)
      return client
    } catch (error) {
      client.release(true)
      if (!isUnavailable(error) || attempt === 2) throw error
    }
  }
}

/** Rolls back, or closes the connection if that fails: a half-open transaction must not be reused. */
async function abandon(client: pg.PoolClient, reason: unknown): Promise<void> {
  if (isUnavailable(reason)) return client.release(true)
  const timeout = new AbortController()
  const tooLate = delay(rollbackMsMax, false, { signal: timeout.signal }).catch(() => false)
  const done = await Promise.race([
    client.query('rollback').then(
      () => true,
      () => false,
    ),
    tooLate,
  ])
  timeout.abort()
  client.release(!done)
}
