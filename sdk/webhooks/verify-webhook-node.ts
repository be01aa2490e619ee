import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ReceivedWebhook, readSignedWebhook, signatureMismatch, type WebhookMessage } from './webhook-message.ts'

export * from './webhook-message.ts'

/**
 * The message of a webhook, if the Hub sent it to this endpoint and did so within five minutes. For Node, at once; the
 * same as `verify-webhook.ts`.
 *
 * @throws {WebhookRefused} with a `code`; a TypeError for a `body` that is no longer what was received
 */
export function verifyWebhook(received: ReceivedWebhook): WebhookMessage {
  const { signed, signatures, secrets, accept } = readSignedWebhook(received)
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(signed).digest()
    if (signatures.some((signature) => timingSafeEqual(signature, expected))) return accept()
  }
  throw signatureMismatch()
}
