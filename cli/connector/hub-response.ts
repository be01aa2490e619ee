import type { EventRejection } from './spool-batches.ts'

/** The result of an attempt to deliver a batch. */
export type Outcome =
  /** The Hub has stored the batch, except for the events at these indexes. */
  | { kind: 'taken'; rejections: Map<number, EventRejection> }
  /** The Hub refuses this request. */
  | { kind: 'refused'; problem: EventRejection; message: string }
  /** Not stored, regardless of content: credentials, scope, address. A person must correct it. */
  | { kind: 'barred'; message: string; retryAfterMs?: number | undefined }
  /** Not stored at this time. */
  | { kind: 'not-taken'; message: string; retryAfterMs?: number | undefined }
  /** Possibly stored: the response does not say, or none arrived. */
  | { kind: 'unknown'; message: string; retryAfterMs?: number | undefined }

interface Problem {
  slug: string
  title: string
  detail: string
}

/** A response of the Hub, or of whatever is at its address. */
export interface HubResponse {
  status: number
  /** Undefined if the response is not JSON. */
  body: unknown
  retryAfterMs?: number | undefined
}

/** Problems that concern this caller rather than this request. The Hub returns them before it stores anything. */
const barring = new Set([
  'authentication-failed',
  'insufficient-scope',
  'address-not-allowed',
  'invalid-tenant',
  'not-found',
  'method-not-allowed',
  'version-not-available',
  'hub-not-provisioned',
])

/** Problems of this request, or of one of its events. */
const refusing = new Set([
  'validation-failed',
  'malformed-json',
  'content-not-allowed',
  'batch-too-large',
  'payload-too-large',
  'skill-not-registered',
  'idempotency-conflict',
])

const detailLengthMax = 1000

/**
 * Reads the response to a batch. Only the Hub's own problems count as a rejection. A proxy, a captive portal or another
 * service at the address refuses nothing permanently.
 */
export function readBatchResponse(answer: HubResponse, eventCount: number): Outcome {
  const { status, body, retryAfterMs } = answer
  if (status === 201) {
    const rejections = rejectionsOf(body, eventCount)
    return rejections
      ? { kind: 'taken', rejections }
      : { kind: 'unknown', message: 'The answer 201 is not one of the Hub.' }
  }
  const problem = problemOf(body)
  const message = describe(status, problem)
  // Any server returns 413 before it forwards anything. A smaller request may succeed.
  if (status === 413 && problem === undefined && eventCount > 1) {
    return { kind: 'refused', problem: { slug: 'payload-too-large', status, detail: message }, message }
  }
  if (status === 429) return { kind: 'not-taken', message, retryAfterMs }
  if (problem && refusing.has(problem.slug)) {
    const detail = eventCount === 1 ? textOfEvent(0, problem.detail) : textOf(problem.detail)
    return { kind: 'refused', problem: { slug: problem.slug, status, detail }, message }
  }
  if ((problem && barring.has(problem.slug)) || (status >= 300 && status < 400)) {
    return { kind: 'barred', message, retryAfterMs }
  }
  return { kind: 'unknown', message, retryAfterMs }
}

/** Returns one line about an error response. */
export function describeResponse({ status, body }: HubResponse): string {
  return describe(status, problemOf(body))
}

function describe(status: number, problem: Problem | undefined): string {
  if (problem === undefined) return `The answer was ${status}, without the Hub’s words for why.`
  return `${status} ${problem.title}: ${textOf(problem.detail)}`
}

/** Returns a problem document (RFC 7807) if its `type` is one of the Hub's. */
function problemOf(body: unknown): Problem | undefined {
  const { type, title, detail } = (body ?? {}) as Record<string, unknown>
  const slug = typeof type === 'string' ? /\/errors\/([a-z-]+)$/.exec(type)?.[1] : undefined
  return slug === undefined ? undefined : { slug, title: String(title), detail: String(detail) }
}

function rejectionsOf(body: unknown, eventCount: number): Map<number, EventRejection> | undefined {
  const { accepted, failed, errors = [], errors_omitted: omitted = 0 } = (body ?? {}) as Record<string, unknown>
  if (typeof accepted !== 'number' || typeof failed !== 'number' || accepted + failed !== eventCount) return undefined
  if (!Array.isArray(errors) || errors.length + Number(omitted) !== failed) return undefined
  const rejections = new Map<number, EventRejection>()
  for (const { index, status, ...error } of errors as Record<string, unknown>[]) {
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= eventCount) return undefined
    const slug = problemOf(error)?.slug ?? 'validation-failed'
    rejections.set(index as number, {
      slug,
      status: Number(status) || 400,
      detail: textOfEvent(index as number, String(error.detail)),
    })
  }
  if (omitted !== 0)
    for (const index of withoutReceipt(body, eventCount)) rejections.set(index, rejections.get(index) ?? unlisted)
  return rejections.size === failed ? rejections : undefined
}

/** The rejection of events whose reasons a response leaves out: it lists those of the first refused events only. */
export const unlisted: EventRejection = {
  slug: 'validation-failed',
  status: 400,
  detail: 'The Hub refused the event. Its answer lists the reasons of other events of the batch only.',
}

/** Returns the indexes of the events that `records` lacks. */
function withoutReceipt(body: unknown, eventCount: number): number[] {
  const { records } = body as Record<string, unknown>
  const stored = new Set(Array.isArray(records) ? records.map(({ index }: Record<string, unknown>) => index) : [])
  return Array.from({ length: eventCount }, (_, index) => index).filter((index) => !stored.has(index))
}

/** Makes pointers relative to the event: users of the connector see events, never the batch. */
function textOfEvent(index: number, detail: string): string {
  const text = detail.replaceAll(`/events/${index}/`, '/').replaceAll(`/events/${index} `, 'The event ')
  return textOf(text)
}

/** Shortens the text and removes control characters, which could move a terminal's cursor. */
function textOf(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').slice(0, detailLengthMax)
}

/** Codes of failures before a connection existed: nothing was sent. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** Returns the outcome of a request that failed without a response. */
export function readFailure(error: unknown): Extract<Outcome, { kind: 'not-taken' | 'unknown' }> {
  const codes = failureCodes(error)
  const kind = codes.length > 0 && codes.every((code) => beforeSending.has(code)) ? 'not-taken' : 'unknown'
  return { kind, message: `No answer: ${codes.join(', ') || rootMessage(error)}.` }
}

/** A name with several addresses fails with one error for each. */
function failureCodes(error: unknown): string[] {
  const { code, cause, errors, name } = (error ?? {}) as Record<string, unknown>
  if (Array.isArray(errors) && errors.length > 0) return [...new Set(errors.flatMap(failureCodes))]
  if (typeof code === 'string') return [code]
  if (cause !== undefined && cause !== error) return failureCodes(cause)
  return name === 'TimeoutError' ? ['timeout'] : []
}

/** `fetch` throws "fetch failed", with the reason in the cause. */
function rootMessage(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? rootMessage(cause) : message
}
