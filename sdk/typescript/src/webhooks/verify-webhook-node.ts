import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ReceivedWebhook, readSignedWebhook, signatureMismatch, type WebhookMessage } from './webhook-message.ts'

export * from './webhook-message.ts'

/**
 * Returns the message of a webhook if the Hub sent it to this endpoint within the last five minutes. Synchronous, for
 * Node; otherwise the same as `verify-webhook.ts`.
 *
 * @throws {WebhookRefused} with a `code`; a TypeError for a `body` that is not the received bytes
 */
export function verifyWebhook(received: ReceivedWebhook): WebhookMessage {
  const { signed, signatures, secrets, accept } = readSignedWebhook(received)
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(signed).digest()
    if (signatures.some((signature) => timingSafeEqual(signature, expected))) return accept()
  }
  throw signatureMismatch()
}
