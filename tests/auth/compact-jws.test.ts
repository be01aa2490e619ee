import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { signCompactJws, verifyCompactJws } from '../../server/modules/auth/tokens/compact-jws.ts'
import type { TokenSigningKey } from '../../server/modules/keys/keys-types.ts'
import { inLowForm } from './signature-forms.ts'

function makeKey(keyId: string): TokenSigningKey {
  return { keyId, algorithm: 'ES256', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
}

const one = makeKey('one')
const other = makeKey('other')
const keyOf = (keyId: string) => [one, other].find((key) => key.keyId === keyId)

/** Signs in one turn of the event loop, and returns what each token says by its own key. */
async function signTogether(keys: readonly TokenSigningKey[]) {
  const tokens = await Promise.all(keys.map((key, number) => signCompactJws(key, 'at+jwt', { number })))
  expect(tokens.filter((token) => inLowForm(token) !== token)).toEqual([])
  return Promise.all(
    tokens.map(async (token) => {
      const { header, payload } = await verifyCompactJws(token, keyOf)
      return { kid: header.kid, typ: header.typ, ...JSON.parse(Buffer.from(payload).toString()) }
    }),
  )
}

describe('signatures of tokens by ES256', () => {
  test('every signature is that of its own content, in the form with the lower s, alone and among many', async () => {
    for (const count of [1, 3, 500, 1]) {
      const signed = await signTogether(Array.from({ length: count }, () => one))
      expect(signed).toEqual(signed.map((_, number) => ({ kid: 'one', typ: 'at+jwt', number })))
      expect(signed).toHaveLength(count)
    }
  })

  test('several keys in one turn are not mixed up', async () => {
    const keys = [one, one, one, other, one, other, other, other, one]
    const signed = await signTogether(keys)
    expect(signed.map(({ kid }) => kid)).toEqual(keys.map(({ keyId }) => keyId))
  })

  test('a key that cannot sign is an error for its own tokens only', async () => {
    const broken = { ...one, privateKey: one.publicKey }
    const keys = [broken, one, broken, other]
    const outcomes = await Promise.allSettled(keys.map((key) => signCompactJws(key, 'at+jwt', {})))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await signTogether([one])).toHaveLength(1)
  })
})
