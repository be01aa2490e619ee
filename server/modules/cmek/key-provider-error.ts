import { DomainError } from '../../../contract/domain-error.ts'
import { withoutContentKey } from '../../db/record-encryption.ts'
import type { Tenant } from '../../http/caller.ts'

/** Signals that a key provider failed or rejected a request. The message contains no secrets. */
export class KeyProviderError extends Error {
  override readonly name = 'KeyProviderError'
  /** True if the provider is unreachable or faulty and may work later; false if it rejected the request. */
  readonly isAway: boolean
  /** True if the provider knows no key with this name. */
  readonly isUnknown: boolean

  constructor(message: string, options: { isAway: boolean; isUnknown?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.isAway = options.isAway
    this.isUnknown = options.isUnknown ?? false
  }
}

/**
 * Returns a `KeyProviderError` as DomainError `hub-unavailable`, and any other error unchanged.
 *
 * @param before a sentence about the failed action
 */
export function asUnavailable(error: unknown, before?: string): unknown {
  if (!(error instanceof KeyProviderError)) return error
  const detail = before === undefined ? error.message : `${before} ${error.message}`
  return new DomainError('hub-unavailable', detail, { retryAfterSeconds: error.isAway ? 5 : 60, cause: error })
}

/** Creates the error for a change of keys of a tenant that has none. */
export function withoutCustomerKey({ mode }: Pick<Tenant, 'mode'>): DomainError {
  if (mode === 'B') return withoutContentKey()
  return new DomainError(
    'hub-not-provisioned',
    `This tenant runs in Mode ${mode} and has no key of its own: only Mode B encrypts content with one.`,
  )
}
