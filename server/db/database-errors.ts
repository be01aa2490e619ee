import { DomainError, storageFull } from '../../contract/domain-error.ts'
import { tookTooLong, type WorkClass } from './work-classes.ts'

/** States that pass without a change of the request (PostgreSQL, appendix A). */
const unavailableStates = /^(08...|57P0.|53...|25P03)$/
/** The statement exceeded `statement_timeout`, or an administrator cancelled it. Its connection is still usable. */
const cancelledState = '57014'
const diskFullState = '53100'
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
// The driver gives these errors no code.
const unavailableMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after|Query read timeout)/

const retryableStates = new Set(['40001', '40P01'])

/**
 * Matches an SQLSTATE, but no code of the system such as EPIPE. The severity would identify it, but in the server's
 * language. Class XX is left out: a distributed database reports errors of its nodes as internal errors.
 */
const serverErrors = /^(\d[0-9A-Z]|HV|P0)[0-9A-Z]{3}$/
/**
 * States of connections, resources, operators and the system (PostgreSQL, appendix A). After them the outcome is
 * unknown.
 */
const connectionEnds = /^(08|53|57P|58)/
/** The class of warnings. */
const warnings = /^01/

interface CodedError extends Error {
  code?: string
}

/** A notice of PostgreSQL, as `pg` emits it. */
export interface Notice {
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** Returns whether the database is away, starting, stopping or full, as opposed to rejecting this statement. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DomainError) return false
  const { code } = error as CodedError
  if (error instanceof AggregateError && error.errors.some(isUnavailable)) return true
  if (code === undefined) return unavailableMessages.test(error.message)
  return unavailableStates.test(code) || unavailableCodes.has(code)
}

/** Returns whether the same transaction may succeed when it runs again: a deadlock or a serialization failure. */
export function isRetryable(error: unknown): boolean {
  return error instanceof Error && retryableStates.has((error as CodedError).code ?? '')
}

/** Returns whether the error proves that PostgreSQL rolled the transaction back, even if it arrived at COMMIT. */
export function isRollback(error: unknown): boolean {
  const code = (error instanceof Error && (error as CodedError).code) || ''
  return serverErrors.test(code) && !connectionEnds.test(code)
}

/**
 * Returns whether a notice is a warning. At COMMIT it weakens the result: after a cancelled wait for the synchronous
 * standby PostgreSQL warns, and reports success.
 */
export function isWarning(notice: Notice): boolean {
  return warnings.test(notice.code ?? '')
}

/**
 * Returns the error that a service sees: `hub-unavailable` if the database is unavailable, is full or took too long;
 * else the error unchanged.
 */
export function asServiceError(error: unknown, workClass: WorkClass = 'write'): unknown {
  if (error instanceof Error && (error as CodedError).code === cancelledState) return tookTooLong(workClass, error)
  if (isDiskFull(error)) return storageFull('database', { cause: error })
  return isUnavailable(error) ? unavailable(error) : error
}

export function unavailable(cause: unknown): DomainError {
  return new DomainError('hub-unavailable', 'The database cannot be reached at the moment. Try again shortly.', {
    retryAfterSeconds: 2,
    cause,
  })
}

const isDiskFull = (error: unknown) => error instanceof Error && (error as CodedError).code === diskFullState

/** Returns the error of a transaction that may have been committed, or that only the primary has. */
export function outcomeUnknown(cause: unknown): DomainError {
  if (isDiskFull(cause)) return storageFull('database', { cause })
  return new DomainError(
    'hub-unavailable',
    'The database did not confirm the request, so its change may or may not be stored. Try again shortly, with the same ' +
      'Idempotency-Key if you sent one.',
    { retryAfterSeconds: 2, cause },
  )
}
