import { createHmac } from 'node:crypto'

/**
 * Returns the `X-Service-Signature` of a body (interface section 5): HMAC-SHA256 over `<t>.<raw body>`, in hexadecimal,
 * keyed with the whole text of a secret, one `v1` for each. The receiver accepts any of them, so that it can change
 * over.
 *
 * @param secrets the newest first
 * @param atMs milliseconds since 1970
 */
export function signatureOf(body: string | Buffer, secrets: readonly string[], atMs = Date.now()): string {
  const t = String(Math.floor(atMs / 1000))
  let header = `t=${t}`
  for (const secret of secrets)
    header += `,v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
  return header
}
