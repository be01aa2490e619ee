import { type ReceivedWebhook, readSignedWebhook, signatureMismatch, type WebhookMessage } from './webhook-message.ts'

export * from './webhook-message.ts'

/**
 * Returns the message of a webhook if the Hub sent it to this endpoint within the last five minutes. Uses WebCrypto
 * alone: for browsers, Deno, Bun, workers and Node. The comparison takes constant time.
 *
 * @throws {WebhookRefused} with a `code`; a TypeError for a `body` that is not the received bytes
 */
export async function verifyWebhook(received: ReceivedWebhook): Promise<WebhookMessage> {
  const { signed, signatures, secrets, accept } = readSignedWebhook(received)
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return accept()
    }
  }
  throw signatureMismatch()
}
