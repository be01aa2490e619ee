import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseSignature, problemOfAge, type SignatureParts } from '../../../contract/webhook-signature.ts'

/** Random secret for messages without a stored one, so that the check takes as long. */
const dummySecret = randomBytes(32).toString('hex')
const dummyParts: SignatureParts = { timestamp: '0', seconds: 0, signatures: ['0'.repeat(64)] }

/**
 * Returns whether a message has a current signature by either secret (interface section 5, rule 7). Does the same work
 * for every failure: it also checks malformed headers and connections without secrets, and fails.
 *
 * @param body as it was received
 * @param nowMs milliseconds since 1970
 */
export function isSigned(
  message: { header: string | undefined; body: Uint8Array },
  secrets: { current: string | undefined; former: string | undefined },
  nowMs: number,
): boolean {
  const parsed = parseSignature(message.header ?? '')
  const parts = 'problem' in parsed ? dummyParts : parsed
  const given = parts.signatures.map((signature) => Buffer.from(signature, 'hex'))
  let isGenuine = false
  for (const secret of [secrets.current, secrets.former]) {
    const expected = createHmac('sha256', secret ?? dummySecret)
      .update(`${parts.timestamp}.`)
      .update(message.body)
      .digest()
    for (const each of given) {
      const isSame = timingSafeEqual(expected, each)
      if (isSame && secret !== undefined) isGenuine = true
    }
  }
  return isGenuine && problemOfAge(parts, nowMs / 1000) === undefined
}
