/**
 * Verifies webhooks of the Hub, except for the HMAC. Imports nothing: a receiver copies this file and one of
 * `verify-webhook.ts` (WebCrypto) and `verify-webhook-node.ts` (Node).
 */

/** The body of a webhook. Later versions may add members. */
export interface WebhookMessage {
  /**
   * The message id, equal in every attempt and in `X-Service-Webhook-Id`. A known id means that the message was
   * received before.
   */
  id: string
  /** The event kind, such as `user.provisioned`, `skill.invocation_failed` or `governance.hub.tamper_detected`. */
  kind: string
  /** The tenant's slug. */
  tenant: string
  /** The time of the event, RFC 3339. */
  occurred_at: string
  /** The number of the message to this endpoint, from 1. Messages may arrive in another order. */
  sequence: number
  data: Record<string, unknown>
}

/** `Headers` of the Fetch standard, or the headers of a Node request. */
export type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** A webhook as it was received, and the secrets of its endpoint. */
export interface ReceivedWebhook {
  /** The body as received. A parsed and serialized body is another text with another signature. */
  body: string | Uint8Array
  /** All headers; or pass {@link signature}. */
  headers?: ReceivedHeaders
  /** The value of `X-Service-Signature`. */
  signature?: string
  /** The whole `whsec_…`; an array is tried in order. */
  secret: string | readonly string[]
  /** Maximum age of a signature in seconds; defaults to 300. */
  toleranceSeconds?: number
  /** Milliseconds since 1970; defaults to the clock of this machine. */
  nowMs?: number
}

/** The reasons for a refusal. */
export type WebhookRefusal =
  /** `X-Service-Signature` is absent. */
  | 'signature-missing'
  | 'signature-malformed'
  /** No `v1` matches these bytes and one of the secrets. */
  | 'signature-mismatch'
  /** Valid, but older than `toleranceSeconds`: somebody replayed it, or this clock is ahead. */
  | 'signature-stale'
  /** Valid, but dated more than 60 seconds from now: this clock is behind. */
  | 'signature-ahead'
  | 'body-malformed'
  /** `X-Service-Webhook-Id` or `X-Service-Tenant`, which are not signed, differ from the body. */
  | 'header-mismatch'

/** Rejects a webhook: answer 400 and ignore the message. `code` states why; `message` contains no secret. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
  readonly code: WebhookRefusal

  constructor(code: WebhookRefusal, message: string) {
    super(message)
    this.code = code
  }
}

/** The inputs of the comparison: one of `signatures` must be the HMAC-SHA256 of `signed` under one of `secrets`. */
export interface SignedWebhook {
  /** The bytes of `<t>.<body>`. */
  signed: Uint8Array<ArrayBuffer>
  /** Signatures of 32 bytes. */
  signatures: Uint8Array<ArrayBuffer>[]
  /** Secrets as UTF-8. */
  secrets: Uint8Array<ArrayBuffer>[]
  /** Returns the message. Call it once one of the signatures was found valid. Throws {@link WebhookRefused}. */
  accept(): WebhookMessage
}

const aheadSecondsMax = 60

/**
 * Reads the signature header and the body.
 *
 * @throws {WebhookRefused}; a TypeError for invalid arguments of the caller
 */
export function readSignedWebhook(received: ReceivedWebhook): SignedWebhook {
  const { headers, toleranceSeconds = 300, nowMs = Date.now() } = received
  const body = bytesOf(received.body)
  const secrets = typeof received.secret === 'string' ? [received.secret] : received.secret
  // Anyone can compute the HMAC of an empty secret, and compared with NaN nothing is too old.
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every((one) => typeof one === 'string' && one !== ''))
    throw new TypeError('secret must be the secret of the endpoint (whsec_…), or several')
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0 || !Number.isFinite(nowMs))
    throw new TypeError('toleranceSeconds must be a number from 0, nowMs milliseconds since 1970')

  const header = received.signature ?? (headers && headerOf(headers, 'X-Service-Signature'))
  if (header === undefined || header === '')
    throw new WebhookRefused('signature-missing', 'There is no header X-Service-Signature.')
  const { t, signatures } = readHeader(header)
  const encoder = new TextEncoder()
  const prefix = encoder.encode(`${t}.`)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)

  return {
    signed,
    signatures: signatures.map((hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))),
    secrets: secrets.map((secret) => encoder.encode(secret)),
    accept() {
      const ageSeconds = nowMs / 1000 - Number(t)
      if (ageSeconds > toleranceSeconds)
        throw new WebhookRefused('signature-stale', `The signature is older than ${toleranceSeconds} seconds.`)
      if (-ageSeconds > aheadSecondsMax)
        throw new WebhookRefused('signature-ahead', `The signature is more than ${aheadSecondsMax} seconds ahead.`)
      const message = readMessage(body)
      if (headers) {
        sameAsHeader(headers, 'X-Service-Webhook-Id', message.id)
        sameAsHeader(headers, 'X-Service-Tenant', message.tenant)
      }
      return message
    },
  }
}

export function signatureMismatch(): WebhookRefused {
  return new WebhookRefused('signature-mismatch', 'No signature is of this body and secret.')
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  throw new TypeError(
    'body must be the bytes as they were received, or their text: the signature is over these, and JSON that was parsed ' +
      'and serialised again is another text. Read the raw body, such as by express.raw() or request.text().',
  )
}

/** Parses `t=<seconds>,v1=<hex>[,v1=<hex>]` in any order; ignores parts of other schemes. */
function readHeader(header: string): { t: string; signatures: string[] } {
  const parts = header.split(',').map((part) => /^([a-z][a-z0-9]*)=([!-+\--~]+)$/.exec(part))
  const values = (name: string) => parts.flatMap((part) => (part?.[1] === name ? [part[2] ?? ''] : []))
  const [times, signatures] = [values('t'), values('v1')]
  const [t = ''] = times
  const isWhole = header.length <= 1024 && parts.every((part) => part !== null)
  if (!isWhole || times.length !== 1 || !/^(0|[1-9][0-9]{0,11})$/.test(t))
    throw new WebhookRefused('signature-malformed', 'X-Service-Signature must be t=<seconds>,v1=<hex>, with one t.')
  if (signatures.length < 1 || signatures.length > 4 || !signatures.every((hex) => /^[0-9a-f]{64}$/.test(hex)))
    throw new WebhookRefused('signature-malformed', 'X-Service-Signature must have 1 to 4 v1 of 64 hex digits.')
  return { t, signatures }
}

function readMessage(body: Uint8Array): WebhookMessage {
  const refused = (what: string) => new WebhookRefused('body-malformed', `The body is signed, but ${what}.`)
  let message: Partial<WebhookMessage> | null
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    throw refused('not JSON in UTF-8')
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) throw refused('not an object')
  const { id, kind, tenant, occurred_at, sequence, data } = message
  for (const [name, value] of Object.entries({ id, kind, tenant, occurred_at })) {
    if (typeof value !== 'string' || value === '') throw refused(`its ${name} is not a string`)
  }
  if (!Number.isSafeInteger(sequence)) throw refused('its sequence is not a number')
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw refused('its data is not an object')
  return message as WebhookMessage
}

/**
 * Returns the value of a header. Several values are joined, as `Headers` joins them, which makes the signature invalid.
 */
function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const values = Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === name.toLowerCase() && value !== undefined ? value : [],
  )
  return values.length === 0 ? undefined : values.join(', ')
}

function sameAsHeader(headers: ReceivedHeaders, name: string, value: string): void {
  const header = headerOf(headers, name)
  if (header !== undefined && header !== value)
    throw new WebhookRefused('header-mismatch', `${name} is not that of the body.`)
}
