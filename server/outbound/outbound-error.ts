export type OutboundFailure =
  /** The guard blocks it: scheme, userinfo, or an address that is not public. */
  | 'blocked'
  | 'redirect'
  | 'too-large'
  | 'timeout'
  /** No connection, or a broken one: name, network, TLS. */
  | 'unreachable'

/**
 * States why a call to an address of a tenant has no response. The message completes a sentence that begins with the
 * address, and says nothing about the networks behind the Hub.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.failure = failure
  }
}

/** Returns the OutboundError that an error is, or was caused by: clients wrap the errors of their `fetch`. */
export function outboundErrorIn(error: unknown): OutboundError | undefined {
  let inner = error
  for (let depth = 0; depth < 8 && inner instanceof Error; depth += 1) {
    if (inner instanceof OutboundError) return inner
    inner = inner.cause
  }
  return undefined
}
