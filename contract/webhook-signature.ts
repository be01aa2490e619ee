import { webhookSignatureAgeSeconds, webhookSignatureAheadSeconds } from './limits.ts'

/** Header of messages in both directions (interface section 5). */
export const signatureHeader = 'x-service-signature'

/** Maximum number of signatures. A rotation of the secret sends two. */
const signaturesMax = 4
const headerLengthMax = 1024

export interface SignatureParts {
  /** The timestamp in the form of the header, which is also part of the signed text `<t>.<raw body>`. */
  timestamp: string
  /** The same, in seconds since 1970. */
  seconds: number
  /** Signatures of the scheme `v1`: 64 lower-case hex digits each. */
  signatures: readonly string[]
}

/**
 * Reads a header of the form `t=<seconds>,v1=<hex>[,v1=<hex>]`, in any order: exactly one `t`, one to four `v1`. Parts
 * of other schemes, such as `v0`, are ignored. Rejects everything else, because lenient parsers disagree.
 *
 * @returns the parts, or the problem as text
 */
export function parseSignature(header: string): SignatureParts | { problem: string } {
  if (header.length > headerLengthMax) return { problem: `is longer than ${headerLengthMax} characters` }
  let timestamp: string | undefined
  const signatures: string[] = []
  for (const part of header.split(',')) {
    const [, name, value = ''] = /^([a-z][a-z0-9]*)=([!-+\--~]+)$/.exec(part) ?? []
    if (name === undefined) return { problem: 'has a part that is not `<name>=<value>`' }
    if (name === 't') {
      if (timestamp !== undefined) return { problem: 'has more than one `t`' }
      if (!/^(0|[1-9][0-9]{0,11})$/.test(value)) return { problem: 'has a `t` that is not seconds since 1970' }
      timestamp = value
    } else if (name === 'v1') {
      if (!/^[0-9a-f]{64}$/.test(value)) return { problem: 'has a `v1` that is not 64 lower-case hex digits' }
      signatures.push(value)
    }
  }
  if (timestamp === undefined) return { problem: 'has no `t`' }
  if (signatures.length === 0) return { problem: 'has no `v1`' }
  if (signatures.length > signaturesMax) return { problem: `has more than ${signaturesMax} \`v1\`` }
  return { timestamp, seconds: Number(timestamp), signatures }
}

/**
 * Returns true for a recent signature: neither older than 5 minutes (interface section 8) nor from a clock that is ahead.
 *
 * @param nowSeconds since 1970, with its fraction
 * @returns what is wrong with it in words, or undefined
 */
export function problemOfAge({ seconds }: Pick<SignatureParts, 'seconds'>, nowSeconds: number): string | undefined {
  if (nowSeconds - seconds > webhookSignatureAgeSeconds) {
    return `is older than ${webhookSignatureAgeSeconds} seconds`
  }
  if (seconds - nowSeconds > webhookSignatureAheadSeconds) {
    return `is more than ${webhookSignatureAheadSeconds} seconds ahead`
  }
  return undefined
}
