import { type ReceivedWebhook, readSignedWebhook, signatureMismatch, type WebhookMessage } from './webhook-message.ts'

export * from './webhook-message.ts'

/**
 * The message of a webhook, if the Hub sent it to this endpoint and did so within five minutes. With WebCrypto alone:
 * for browsers, Deno, Bun, workers and Node. Its comparison takes the same time whatever is compared.
 *
 * @throws {WebhookRefused} with a `code`; a TypeError for a `body` that is no longer what was received
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
