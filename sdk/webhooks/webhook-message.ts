/**
 * What verifying a webhook of the Hub takes besides the HMAC. Imports nothing: a receiver copies this file and one of
 * `verify-webhook.ts` (WebCrypto) and `verify-webhook-node.ts` (Node).
 */

/** The body of a webhook. Further members may come. */
export interface WebhookMessage {
  /** The same in every attempt, and in `X-Service-Webhook-Id`: a message with a known id has been here before. */
  id: string
  /** Such as `user.provisioned`, `skill.invocation_failed` or `governance.hub.tamper_detected`. */
  kind: string
  /** Slug. */
  tenant: string
  /** RFC 3339. */
  occurred_at: string
  /** Counts the messages to this endpoint from 1. They may arrive in another order. */
  sequence: number
  data: Record<string, unknown>
}

/** `Headers` of the Fetch standard, or those of a request of Node. */
export type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface ReceivedWebhook {
  /** As it came over the wire. Parsed and serialised again it is another text, with another signature. */
  body: string | Uint8Array
  /** All headers, or {@link signature}. */
  headers?: ReceivedHeaders
  /** `X-Service-Signature` by itself. */
  signature?: string
  /** `whsec_…`, all of it; several are tried one after the other. */
  secret: string | readonly string[]
  /** How old a signature may be; default 300. */
  toleranceSeconds?: number
  /** Default: the clock of this machine. */
  nowMs?: number
}

export type WebhookRefusal =
  /** There is no `X-Service-Signature`. */
  | 'signature-missing'
  | 'signature-malformed'
  /** No `v1` is of these bytes and one of the secrets. */
  | 'signature-mismatch'
  /** Good, but older than `toleranceSeconds`: sent again by somebody, or this clock is ahead. */
  | 'signature-stale'
  /** Good, but of more than 60 seconds from now: this clock is behind. */
  | 'signature-ahead'
  | 'body-malformed'
  /** `X-Service-Webhook-Id` or `X-Service-Tenant`, which are not signed, say something else than the body. */
  | 'header-mismatch'

/** Answer 400, and take nothing from the message. `code` says why; `message` has nothing secret in it. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
  readonly code: WebhookRefusal

  constructor(code: WebhookRefusal, message: string) {
    super(message)
    this.code = code
  }
}

/** What is to be compared: one of `signatures` has to be the HMAC-SHA256 of `signed` under one of `secrets`. */
export interface SignedWebhook {
  /** `<t>.<body>` */
  signed: Uint8Array<ArrayBuffer>
  /** Of 32 bytes. */
  signatures: Uint8Array<ArrayBuffer>[]
  /** As UTF-8. */
  secrets: Uint8Array<ArrayBuffer>[]
  /** To be called once one of the signatures was found good: the message. Throws {@link WebhookRefused}. */
  accept(): WebhookMessage
}

const aheadSecondsMax = 60

/** @throws {WebhookRefused}; a TypeError for arguments of the caller that cannot be right. */
export function readSignedWebhook(received: ReceivedWebhook): SignedWebhook {
  const { headers, toleranceSeconds = 300, nowMs = Date.now() } = received
  const body = bytesOf(received.body)
  const secrets = typeof received.secret === 'string' ? [received.secret] : received.secret
  // Of an empty secret everybody knows the HMAC; beside NaN nothing is too old.
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

/** `t=<seconds>,v1=<hex>[,v1=<hex>]` in any order; parts of other schemes are left aside. */
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

/** What stands in a header; several are joined, as `Headers` joins them, and so are no good signature. */
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
