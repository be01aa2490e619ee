import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { higherS, verifyCompactJws } from '../../server/modules/auth/tokens/compact-jws.ts'
import type { TokenKey } from '../../server/modules/keys/keys-types.ts'
import { tokenKeyOf } from '../../server/modules/keys/token-key.ts'

/**
 * Project Wycheproof's vectors against the function that verifies access tokens, below their claims. The keys of a
 * vector are all that it knows, as far as they are ones that the Hub could have made. See vectors/README.md.
 */

type Jwk = Parameters<typeof tokenKeyOf>[0]

interface Vector {
  tcId: number
  comment: string
  /** An object in JSON serialisation. */
  jws: unknown
  result: 'valid' | 'invalid'
}

interface Group {
  comment: string
  public?: Jwk | { keys: Jwk[] }
  private: Jwk | { keys: Jwk[] }
  tests: Vector[]
}

interface Outcome extends Vector {
  /** Of the key, in groups of one. */
  algorithm: string | undefined
  /** Whether the Hub would have such a key at all. */
  knownKey: boolean
  refusal: string | undefined
}

async function outcomesOf(file: string): Promise<Outcome[]> {
  const { testGroups, numberOfTests } = JSON.parse(
    readFileSync(join(import.meta.dirname, 'vectors', `${file}.json`), 'utf8'),
  ) as { testGroups: Group[]; numberOfTests: number }
  const outcomes: Outcome[] = []
  for (const group of testGroups) {
    const given = group.public ?? group.private
    const jwks = 'keys' in given ? given.keys : [given]
    const keys = keysOf(jwks)
    for (const vector of group.tests) {
      const token = typeof vector.jws === 'string' ? vector.jws : JSON.stringify(vector.jws)
      const refusal = await verifyCompactJws(token, (keyId) => keys.get(keyId)).then(
        () => undefined,
        (error: Error) => error.message,
      )
      outcomes.push({ ...vector, algorithm: jwks[0]?.alg, knownKey: keys.size > 0, refusal })
    }
  }
  expect(outcomes).toHaveLength(numberOfTests)
  return outcomes
}

/** By id; a key that is none of the Hub's kind is left out. */
function keysOf(jwks: readonly Jwk[]): Map<string, TokenKey> {
  const keys = new Map<string, TokenKey>()
  for (const jwk of jwks) {
    try {
      const key = tokenKeyOf(jwk)
      keys.set(key.keyId, key)
    } catch {}
  }
  return keys
}

const ours = (outcome: Outcome) => outcome.algorithm === 'ES256' || outcome.algorithm === 'RS256'
const named = (outcomes: readonly Outcome[]) => outcomes.map(({ tcId, comment }) => `${tcId} ${comment}`)

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | undefined): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[keyOf(item) ?? 'none'] = (counts[keyOf(item) ?? 'none'] ?? 0) + 1
  return counts
}

describe.each([
  {
    file: 'json_web_signature_test',
    accepted: 10,
    highForms: 1,
    otherAlgorithms: { HS256: 10, RS384: 4, RS512: 4, PS256: 8, PS384: 4, PS512: 4, ES521: 2 },
    invalid: 355,
    reachTheToken: 262,
    reachTheSignature: 242,
  },
  {
    file: 'json_web_key_test',
    accepted: 1,
    highForms: 0,
    otherAlgorithms: { HS256: 2, HS384: 1, HS512: 1 },
    invalid: 21,
    reachTheToken: 1,
    reachTheSignature: 0,
  },
])('$file', async ({ file, accepted, highForms, otherAlgorithms, invalid, reachTheToken, reachTheSignature }) => {
  const outcomes = await outcomesOf(file)
  const valid = outcomes.filter(({ result }) => result === 'valid')

  test('every valid signature of ES256 and RS256 is taken, of ES256 in the form with the lower s', () => {
    const refused = valid.filter((each) => ours(each) && each.refusal !== undefined)
    expect(named(refused.filter((each) => each.refusal !== higherS))).toEqual([])
    expect(refused).toHaveLength(highForms)
    expect(valid.filter(ours)).toHaveLength(accepted)
  })

  test('valid ones of other algorithms are refused', () => {
    const others = valid.filter((each) => !ours(each))
    expect(named(others.filter(({ refusal }) => refusal === undefined))).toEqual([])
    expect(countBy(others, ({ algorithm }) => algorithm)).toEqual(otherAlgorithms)
  })

  test('every invalid one is refused', () => {
    const bad = outcomes.filter(({ result }) => result === 'invalid')
    expect(named(bad.filter(({ refusal }) => refusal === undefined))).toEqual([])
    expect(bad).toHaveLength(invalid)
    // The others are refused because the Hub would not have their key.
    expect(bad.filter(({ knownKey }) => knownKey)).toHaveLength(reachTheToken)
    expect(bad.filter(({ refusal }) => refusal === 'signature verification failed')).toHaveLength(reachTheSignature)
  })
})
