import { DomainError } from '../../../contract/domain-error.ts'
import { TestStepError } from '../../outbound/connection-test.ts'
import { retryAfterSeconds } from '../../outbound/message-headers.ts'
import { OutboundError, outboundErrorIn } from '../../outbound/outbound-error.ts'
import type { DeliveryError } from './distribution-types.ts'

/** Maximum pause in seconds that a receiver may request. */
const retryAfterSecondsMax = 600

/** Signals that a receiver did not accept a publish. The message completes a sentence whose subject is the receiver. */
export class PublishFailure extends Error {
  override readonly name = 'PublishFailure'
  readonly status: number | undefined
  /** Pause in seconds that the receiver requests. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, { status, retryAfterSeconds }: { status?: number; retryAfterSeconds?: number } = {}) {
    super(message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Creates the failure for an unsuccessful response. Never quotes its body, which may contain anything. */
export function failureOf(response: Response, what = 'the manifest'): PublishFailure {
  const { status } = response
  const asked = retryAfterSeconds(response.headers.get('retry-after'), retryAfterSecondsMax)
  const pauseSeconds = status === 410 ? retryAfterSecondsMax : asked
  return new PublishFailure(wordsOf(status, what), {
    status,
    ...(pauseSeconds !== undefined && { retryAfterSeconds: pauseSeconds }),
  })
}

function wordsOf(status: number, what: string): string {
  if (status === 401 || status === 403) return `refuses the credentials (${status})`
  if (status === 404 || status === 405) return `does not accept ${what} at this address (${status})`
  if (status === 408 || status === 504) return `timed out (${status})`
  if (status === 410) return 'responded 410 (permanently gone); remove the connector, or change its address'
  if (status === 413) return `rejects ${what} as too large (413)`
  if (status === 429) return 'limits the request rate (429)'
  if (status >= 500) return `failed (${status})`
  if (status >= 400) return `refuses ${what} (${status})`
  return `responded ${status}, which is not a success`
}

/** Returns the stored and displayed form of a failure. */
export function deliveryErrorOf(error: unknown): DeliveryError {
  if (error instanceof PublishFailure) {
    const { status } = error
    const code = status === undefined ? 'unexpected' : `http-${Math.floor(status / 100)}xx`
    return { code, detail: `The receiver ${error.message}.`, ...(status !== undefined && { status }) }
  }
  const outbound = error instanceof OutboundError ? error : outboundErrorIn(error)
  if (outbound) return { code: outbound.failure, detail: `The address of the receiver ${outbound.message}.` }
  if (error instanceof DomainError) {
    return { code: error.slug === 'payload-too-large' ? 'too-large' : 'credentials', detail: error.message }
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { code: 'timeout', detail: 'The receiver did not accept everything in time; the rest follows.' }
  }
  return { code: 'unexpected', detail: 'The Hub failed to publish; the cause is in its log.' }
}

/** Fails a step of a connection test with the error that a publish would report. */
export function failStep(error: unknown): never {
  throw new TestStepError(deliveryErrorOf(error).detail)
}
