import { webhookBodyCharactersKept, webhookRetryAfterSecondsMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { WebhookFormat } from '../../../../contract/webhook-formats.ts'
import { headerValue, type PostResponse, type ResponseHeaders } from '../../../outbound/guarded-post.ts'
import { retryAfterSeconds, signatureOf } from '../../../outbound/message-headers.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { OutboundError } from '../../../outbound/outbound-error.ts'
import type { DeliveryAttempt, DeliveryErrorCode } from '../webhooks-types.ts'
import { chatBody } from './chat-message.ts'
import type { MessageRow } from './delivery-queue-store.ts'

const headersMax = 50
const headerCharactersMax = 4 * 1024
/** Headers that are not logged: they concern a browser. */
const leftOut: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2'])

export interface Target {
  tenantSlug: string
  url: string
  format: WebhookFormat
  /** The secrets, the newest first. */
  secrets: readonly string[]
}

/** Sends a message once. Without an error the receiver accepted it. Throws only the reason of the signal. */
export async function attemptDelivery(
  outbound: Pick<Outbound, 'post'>,
  { tenantSlug, url, format, secrets }: Target,
  message: MessageRow & { data: string },
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const nowMs = Date.now()
  const body = Buffer.from(format === 'hub' ? requestBody(tenantSlug, message) : chatBody(format, tenantSlug, message))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'org-memory-hub',
    'x-service-tenant': tenantSlug,
    'x-service-webhook-id': message.message_id,
    'x-service-signature': signatureOf(body, secrets, nowMs),
  }
  const begun = { at: formatTimestamp(nowMs), url, request_headers: headers }
  const beganMs = performance.now()
  try {
    const answer = await outbound.post(url, { headers, body, signal })
    return attempted({ ...begun, duration_ms: Math.round(answer.headMs) }, answer)
  } catch (error) {
    if (signal.aborted) throw error
    const duration_ms = Math.round(performance.now() - beganMs)
    return { ...begun, duration_ms, error: outboundProblem(error) }
  }
}

/** Returns a log entry for a message that was not sent. */
export function unsentAttempt(url: string, code: DeliveryErrorCode, detail: string): DeliveryAttempt {
  return { at: formatTimestamp(Date.now()), duration_ms: 0, url, request_headers: {}, error: { code, detail } }
}

function attempted(
  begun: Pick<DeliveryAttempt, 'at' | 'url' | 'request_headers' | 'duration_ms'>,
  answer: PostResponse,
): DeliveryAttempt {
  const { status, headers } = answer
  const response = loggedResponse(answer)
  if (status >= 200 && status < 300) return { ...begun, response }
  const error = { code: codeOf(status), detail: `The receiver ${wordsOf(status)}.` }
  const isBusy = status === 429 || status === 503
  const asked = isBusy && retryAfterSeconds(headerValue(headers, 'retry-after'), webhookRetryAfterSecondsMax)
  return { ...begun, response, error, ...(asked && { retry_after_seconds: asked }) }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function codeOf(status: number): DeliveryErrorCode {
  if (redirects.has(status)) return 'redirect'
  if (status === 410) return 'gone'
  if (status === 429) return 'rate-limited'
  if (status >= 400 && status < 500) return 'http-4xx'
  return status >= 500 && status < 600 ? 'http-5xx' : 'http-other'
}

function wordsOf(status: number): string {
  if (redirects.has(status)) return `responded with a redirect (${status}), which the Hub does not follow`
  if (status === 410) return 'responded 410 (permanently gone)'
  if (status === 429) return 'limits the request rate (429)'
  return `responded ${status}, which is not a success`
}

function outboundProblem(error: unknown): NonNullable<DeliveryAttempt['error']> {
  if (!(error instanceof OutboundError)) throw error
  const { failure, message } = error
  const code = failure === 'blocked' || failure === 'timeout' || failure === 'redirect' ? failure : 'unreachable'
  return { code, detail: `The address of the receiver ${message}.` }
}

/**
 * Returns the body that is sent: `messageBody` of the deliveries as compact JSON. It does not parse `data`, which is
 * compact JSON already. A message whose data was erased is not sent.
 */
export function requestBody(tenantSlug: string, row: MessageRow & { data: string }): string {
  const { message_id, kind, occurred_at, sequence, data } = row
  // The other members have no characters that JSON escapes; a kind contains names by clients.
  return `{"id":"${message_id}","kind":${JSON.stringify(kind)},"tenant":${JSON.stringify(tenantSlug)},"occurred_at":"${occurred_at}","sequence":${sequence},"data":${data}}`
}

/** Returns the part of a response that is logged: status, the first headers, the beginning of a text body. */
export function loggedResponse({ status, headers, beginning }: PostResponse): NonNullable<DeliveryAttempt['response']> {
  const body = bodyText(headers, beginning)
  return { status, headers: firstHeaders(headers), ...(body !== undefined && { body }) }
}

function firstHeaders(headers: ResponseHeaders): Record<string, string> {
  const kept: [string, string][] = []
  let room = headerCharactersMax
  for (const [name, value] of Object.entries(headers)) {
    if (leftOut.has(name) || value === undefined) continue
    const text = printable(Array.isArray(value) ? value.join(', ') : value)
    room -= name.length + text.length
    if (room < 0 || kept.length === headersMax) break
    kept.push([name, text])
  }
  // Unlike assignment, `fromEntries` makes `__proto__` an ordinary member.
  return Object.fromEntries(kept)
}

/** Returns the body as text; undefined if its headers declare a compressed or non-text body. */
function bodyText(headers: ResponseHeaders, beginning: Buffer): string | undefined {
  if (beginning.length === 0) return undefined
  const encoding = headers['content-encoding'] ?? 'identity'
  const type = headerValue(headers, 'content-type') ?? 'text/plain'
  if (encoding !== 'identity' || !/^text\/|[/+](json|xml|x-www-form-urlencoded)\b/i.test(type)) return undefined
  // Cuts between characters, not inside one.
  const characters = [...printable(beginning.toString('utf8'))].slice(0, webhookBodyCharactersKept)
  return characters.join('')
}

/** Replaces control characters: PostgreSQL accepts no NUL in JSON, and a terminal obeys others. */
function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => (/[\n\t]/.test(character) ? character : '\ufffd'))
}
