export type OutboundFailure =
  /** The guard does not let it out: scheme, userinfo, or an address that is not public. */
  | 'blocked'
  | 'redirect'
  | 'too-large'
  | 'timeout'
  /** No connection, or one that broke: name, network, TLS. */
  | 'unreachable'

/**
 * Why a call to an address of a tenant has no answer. The message completes a sentence that begins with the address,
 * and says nothing of the networks behind the Hub.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.failure = failure
  }
}

/** The OutboundError that an error is, or was caused by: clients wrap what their `fetch` throws. */
export function outboundErrorIn(error: unknown): OutboundError | undefined {
  let inner = error
  for (let depth = 0; depth < 8 && inner instanceof Error; depth += 1) {
    if (inner instanceof OutboundError) return inner
    inner = inner.cause
  }
  return undefined
}
