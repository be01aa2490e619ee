import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseSignature, problemOfAge, type SignatureParts } from '../../../contract/webhook-signature.ts'

/** What a message is checked with where there is no secret, so that it takes as long. Nobody knows it. */
const dummySecret = randomBytes(32).toString('hex')
const dummyParts: SignatureParts = { timestamp: '0', seconds: 0, signatures: ['0'.repeat(64)] }

/**
 * Whether a message bears a signature by either secret that is of now (interface section 5, rule 7). Does the same work
 * whatever is wrong with it: a header that says nothing, and a connection without secrets, are checked as well, and fail.
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
