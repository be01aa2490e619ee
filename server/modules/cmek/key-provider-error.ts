import { DomainError } from '../../../contract/domain-error.ts'
import { withoutContentKey } from '../../db/record-encryption.ts'
import type { Tenant } from '../../http/caller.ts'

/** Why a provider of keys did not do what it was asked for. The message says it in words, and has no secrets. */
export class KeyProviderError extends Error {
  override readonly name = 'KeyProblem'
  /** It cannot be reached or is at fault, and may work again later; otherwise it says no. */
  readonly isAway: boolean
  /** It knows no key of this name. */
  readonly isUnknown: boolean

  constructor(message: string, options: { isAway: boolean; isUnknown?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.isAway = options.isAway
    this.isUnknown = options.isUnknown ?? false
  }
}

/**
 * A `KeyProblem` as DomainError `hub-unavailable`; whatever else it is stays so.
 *
 * @param before a sentence that says what cannot be done
 */
export function asUnavailable(error: unknown, before?: string): unknown {
  if (!(error instanceof KeyProviderError)) return error
  const detail = before === undefined ? error.message : `${before} ${error.message}`
  return new DomainError('hub-unavailable', detail, { retryAfterSeconds: error.isAway ? 5 : 60, cause: error })
}

/** For who wants to change keys of a tenant that has none. */
export function withoutCustomerKey({ mode }: Pick<Tenant, 'mode'>): DomainError {
  if (mode === 'B') return withoutContentKey()
  return new DomainError(
    'hub-not-provisioned',
    `This tenant runs in Mode ${mode} and has no key of its own: only in Mode B is content encrypted under one.`,
  )
}
