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

export const badPortWords = 'has a port that is not for HTTP, as the Fetch standard lists them'

const systemWords: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has a host name that does not resolve',
  EAI_AGAIN: 'has a host name that cannot be resolved right now',
  ECONNREFUSED: 'refuses the connection',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  ETIMEDOUT: 'does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'does not answer',
  UND_ERR_HEADERS_OVERFLOW: 'responded with headers that are too large',
  HPE_HEADER_OVERFLOW: 'responded with headers that are too large',
}

/** Describes a failure below HTTP, worded to follow an address, by its innermost known code. */
export function describeNetworkError(error: unknown): string {
  let code: string | undefined
  for (let inner = error, depth = 0; depth < 8 && inner instanceof Error; inner = inner.cause, depth += 1) {
    code = (inner as NodeJS.ErrnoException).code ?? code
    if (inner.message === 'bad port') return badPortWords
  }
  return (code && systemWords[code]) ?? `could not be reached${code ? ` (${code})` : ''}`
}
