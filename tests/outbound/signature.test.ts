import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseSignature } from '../../contract/webhook-signature.ts'
import { signatureOf } from '../../server/outbound/message-headers.ts'

test('signs `<t>.<body>` with the whole text of each secret, the newest first', () => {
  const body = '{"id":"ä"}'
  const header = signatureOf(body, ['whsec_new', 'whsec_old'], 1_700_000_000_999)
  const digest = (secret: string) => createHmac('sha256', secret).update(`1700000000.${body}`).digest('hex')
  expect(header).toBe(`t=1700000000,v1=${digest('whsec_new')},v1=${digest('whsec_old')}`)
  expect(signatureOf(Buffer.from(body), ['whsec_new', 'whsec_old'], 1_700_000_000_000)).toBe(header)
  expect(parseSignature(header)).toMatchObject({ seconds: 1_700_000_000 })
})

test('is of now by default', () => {
  const began = Math.floor(Date.now() / 1000)
  const parts = parseSignature(signatureOf('', ['whsec_one']))
  if ('problem' in parts) throw new Error(parts.problem)
  expect(parts.seconds).toBeGreaterThanOrEqual(began)
  expect(parts.seconds).toBeLessThanOrEqual(Date.now() / 1000)
})
