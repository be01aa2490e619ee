import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { verifyCompactJws } from '../../server/modules/auth/tokens/compact-jws.ts'
import { mintAccessToken } from '../../server/modules/auth/tokens/token-issuer.ts'
import type { TokenAlgorithm } from '../../server/modules/keys/keys-types.ts'
import { TokenKeyRing } from '../../server/modules/keys/token-keys-service.ts'
import { quiet } from '../auth/auth-lab.ts'
import { type SecondHub, startSecondHub } from '../auth/second-hub.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

describe('the ring', () => {
  let store: TestDatabase
  let clock: number
  const opened: TokenKeyRing[] = []
  beforeEach(async () => {
    store = await createTestDatabase()
    clock = Date.now()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((ring) => ring.close()))
    await store.drop()
  })

  const open = async () => {
    const { database, masterKey } = store
    const ring = await TokenKeyRing.open({ database, masterKey, log: quiet, now: () => clock })
    opened.push(ring)
    return ring
  }
  const published = (ring: TokenKeyRing) => ring.publicKeySet().keys.map(({ kid }) => kid)

  test('publishes a new key at once, signs with it a minute later, and verifies by the old one an hour longer', async () => {
    const ring = await open()
    const old = ring.signingKey().keyId
    clock += hour
    const rotation = await ring.rotate()
    expect(rotation).toEqual({
      key_id: expect.any(String),
      algorithm: 'ES256',
      signs_from: micros(clock + minute),
      retired: [
        {
          key_id: old,
          algorithm: 'ES256',
          signs_until: micros(clock + minute),
          verifies_until: micros(clock + minute + hour + minute),
        },
      ],
    })
    expect(published(ring)).toEqual([old, rotation.key_id])
    expect(ring.signingKey().keyId).toBe(old)
    clock += minute - 1
    expect(ring.signingKey().keyId).toBe(old)
    clock += 1
    expect(ring.signingKey().keyId).toBe(rotation.key_id)
    // The last token that it signed lives for an hour, and clocks may differ by a minute.
    clock += hour + minute - 1
    expect(ring.verificationKey(old)?.keyId).toBe(old)
    clock += 1
    expect(ring.verificationKey(old)).toBeUndefined()
    expect(published(ring)).toEqual([rotation.key_id])
  })

  test.each<[TokenAlgorithm, TokenAlgorithm]>([
    ['ES256', 'RS256'],
    ['RS256', 'ES256'],
  ])('goes from %s to %s, and stays there when nothing else is asked for', async (before, after) => {
    const ring = await open()
    if (before === 'RS256') await ring.rotate(before)
    clock += minute
    expect(ring.signingKey().algorithm).toBe(before)
    expect((await ring.rotate(after)).algorithm).toBe(after)
    clock += minute
    expect(ring.signingKey().algorithm).toBe(after)
    expect((await ring.rotate()).algorithm).toBe(after)
    const jwk = ring.publicKeySet().keys.at(-1)
    expect(jwk).toMatchObject(after === 'RS256' ? { kty: 'RSA', alg: after, e: 'AQAB' } : { kty: 'EC', crv: 'P-256' })
    if (after === 'RS256') expect(Buffer.from(jwk?.n ?? '', 'base64url')).toHaveLength(256)
    expect(Object.keys(jwk ?? {})).not.toContain('d')
    const tenant = { baseUrl: 'http://127.0.0.1', slug: 'acme' } as Tenant
    const grant = { tenant, subject: 'sa1', clientId: 'sa1', scopes: [], epoch: 1, expiresInSeconds: 60 } as const
    const { header } = await verifyCompactJws(await mintAccessToken(ring, grant), (id) => ring.verificationKey(id))
    expect(header.alg).toBe(after)
  })

  test('follows rotations in a row: each key has its turn, and there is always one', async () => {
    const ring = await open()
    clock += second
    const began = clock
    const first = ring.signingKey().keyId
    const keys = [first]
    for (let n = 0; n < 3; n += 1) {
      keys.push((await ring.rotate()).key_id)
      clock += 10 * second
    }
    const signer = (at: number) => {
      clock = began + at
      return keys.indexOf(ring.signingKey().keyId)
    }
    expect([30, 59, 60, 69, 70, 79, 80, 4000].map((at) => signer(at * second))).toEqual([0, 0, 1, 1, 2, 2, 3, 3])
    clock = began
    expect(published(ring)).toEqual(keys)
  })

  test('takes rotations at the same moment, one after the other', async () => {
    const rings = [await open(), await open(), await open()]
    clock += hour
    const made = await Promise.all(rings.map((ring) => ring.rotate()))
    await Promise.all(rings.map((ring) => ring.refresh()))
    expect(new Set(rings.map((ring) => published(ring).join())).size).toBe(1)
    expect(published(rings[0]!)).toHaveLength(4)
    const retired = made.flatMap((each) => each.retired.map(({ key_id }) => key_id))
    expect(new Set(retired).size).toBe(3)
    const [newest, ...others] = made.map(({ key_id }) => key_id).filter((keyId) => !retired.includes(keyId))
    expect(others).toEqual([])
    for (let at = 0; at <= 2 * minute; at += 10 * second) {
      clock += 10 * second
      expect(new Set(rings.map((ring) => ring.signingKey().keyId)).size).toBe(1)
    }
    expect(rings[0]!.signingKey().keyId).toBe(newest)
  })

  test('of a process that slept through a rotation catches up before it signs or verifies', async () => {
    const awake = await open()
    const asleep = await open()
    clock += hour
    await Promise.all([awake.refresh(), asleep.refresh()])
    const { key_id: fresh } = await awake.rotate()
    expect(asleep.upToDate()).toBeUndefined()
    expect(asleep.verificationKey(fresh)).toBeUndefined()
    clock += 31 * second
    await asleep.upToDate()
    expect(asleep.verificationKey(fresh)?.keyId).toBe(fresh)
    clock += minute
    await asleep.upToDate()
    expect(asleep.signingKey().keyId).toBe(fresh)
  })

  test('of a process that has lost its database says 503 rather than miss a rotation', async () => {
    const { database, masterKey } = store
    let away = false
    const withRegistry: typeof database.withRegistry = async (work) => {
      if (away) throw Object.assign(new Error('gone'), { slug: 'hub-unavailable' })
      return database.withRegistry(work)
    }
    const ring = await TokenKeyRing.open({
      database: { ...database, withRegistry },
      masterKey,
      log: quiet,
      now: () => clock,
    })
    opened.push(ring)
    away = true
    clock += 29 * second
    expect(ring.upToDate()).toBeUndefined()
    clock += 2 * second
    await expect(ring.upToDate()).rejects.toMatchObject({ slug: 'hub-unavailable' })
    away = false
    await ring.upToDate()
    expect(ring.upToDate()).toBeUndefined()
  })

  test('logs a new key, and nothing of it that is secret', async () => {
    const lines: string[] = []
    const log = {
      ...quiet,
      info: (details: object, message: string) => void lines.push(JSON.stringify([details, message])),
    }
    const { database, masterKey } = store
    const ring = await TokenKeyRing.open({ database, masterKey, log, now: () => clock })
    opened.push(ring)
    expect(lines).toEqual([])
    const { key_id, signs_from } = await ring.rotate('RS256')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      [{ key_id, algorithm: 'RS256', signs_from }, 'a new token key is active'],
    ])
  })
})

function micros(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

describe('under load, in two Hubs on one database', () => {
  // A twentieth of what it is, so that several rotations come to pass here.
  const signingDelayMs = 3_000
  let first: TestHub
  let hubs: SecondHub[]
  beforeAll(async () => {
    first = await startHub()
    hubs = [await startSecondHub(first, { signingDelayMs }), await startSecondHub(first, { signingDelayMs })]
  })
  afterAll(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()))
    await first.stop()
  })

  test('keys are rotated, and not one request fails', async () => {
    const tenant = await first.tenant('acme')
    const account = { name: 'load', scopes: ['hub:read'] as const }
    const { client_id } = await first.modules.auth.serviceAccounts.create(tenant, account, { operator: 'test' })
    const mint = (hub: SecondHub) =>
      mintAccessToken(hub.modules.keys.tokens, {
        tenant,
        subject: client_id,
        clientId: client_id,
        scopes: account.scopes,
        epoch: 1,
        expiresInSeconds: 3600,
      })
    const statuses = new Map<number, number>()
    const signers = new Set<string>()
    const kept: string[] = []
    const load = new AbortController()
    const client = async (from: SecondHub, to: SecondHub) => {
      while (!load.signal.aborted) {
        const token = await mint(from)
        signers.add(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid)
        if (kept.length < 50 || Math.random() < 0.01) kept.push(token)
        const old = kept[Math.floor(Math.random() * kept.length)]!
        for (const each of [token, old]) {
          const { status } = await to.use(each)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
        await delay(2)
      }
    }
    const [one, other] = hubs as [SecondHub, SecondHub]
    const clients = [client(one, other), client(other, one), client(one, other), client(other, one), client(one, one)]
    const began = one.modules.keys.tokens.signingKey().keyId
    const made: string[] = []
    const rotate = async (by: SecondHub, algorithm: TokenAlgorithm) => {
      made.push((await by.modules.keys.tokens.rotate(algorithm)).key_id)
    }
    await delay(500)
    await rotate(one, 'RS256')
    await delay(500)
    // Two in a row, by different processes.
    await rotate(other, 'ES256')
    await delay(signingDelayMs + 1_000)
    await rotate(other, 'RS256')
    await expect.poll(() => signers.has(made[2]!), { timeout: scaled(3 * signingDelayMs), interval: 50 }).toBe(true)
    await delay(1_000)
    load.abort()
    await Promise.all(clients)
    expect([...statuses.keys()]).toEqual([200])
    expect(statuses.get(200)).toBeGreaterThan(500)
    expect(signers).toEqual(new Set([began, ...made]))
    for (const hub of hubs) expect(hub.modules.keys.tokens.signingKey().keyId).toBe(made[2])
  })
})
