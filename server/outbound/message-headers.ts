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

/**
 * Returns the seconds that a receiver requests in its header, given as seconds or date (RFC 9110, section 10.2.3): at
 * least 1 and at most `secondsMax`. Undefined if the header is missing or unreadable.
 */
export function retryAfterSeconds(header: string | null | undefined, secondsMax: number): number | undefined {
  const value = header?.trim()
  if (!value) return undefined
  if (/^[-+\d.]+$/.test(value) && !/^\d{1,9}$/.test(value)) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), secondsMax)
}
