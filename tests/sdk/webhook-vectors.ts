import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ReceivedWebhook, WebhookMessage } from '../../sdk/typescript/src/webhooks/webhook-message.ts'

/** The cases of `sdk/webhooks/vectors.json`, that every verifier has to decide alike. */
export interface WebhookVector {
  name: string
  body?: string
  body_base64?: string
  signature: string
  secrets: string[]
  tolerance_seconds?: number
  /** Null where the message is to be accepted. */
  refused: string | null
}

const file = new URL('../../sdk/webhooks/vectors.json', import.meta.url)
export const {
  now,
  message,
  cases,
}: { now: number; message: WebhookMessage & { data: { display_name: string } }; cases: WebhookVector[] } = JSON.parse(
  readFileSync(file, 'utf8'),
)

export function receivedOf({ body, body_base64, signature, secrets, tolerance_seconds }: WebhookVector) {
  return {
    body: body ?? new Uint8Array(Buffer.from(body_base64 ?? '', 'base64')),
    signature,
    secret: secrets,
    nowMs: now * 1000,
    ...(tolerance_seconds !== undefined && { toleranceSeconds: tolerance_seconds }),
  } satisfies ReceivedWebhook
}

/** As the interface says it (section 5), apart from the Hub's own function. */
export function signedHeader(body: string | Uint8Array, secret: string, t = now): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}
