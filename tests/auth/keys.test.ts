import { generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { createKeysModule } from '../../server/modules/keys/keys-module.ts'
import { ProvenanceKeyRing } from '../../server/modules/keys/provenance-keys-service.ts'
import { TokenKeyRing } from '../../server/modules/keys/token-keys-service.ts'
import { deriveKey, encryptSecret } from '../../server/secrets/encryption.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { quiet } from './auth-lab.ts'

let store: TestDatabase
beforeAll(async () => {
  store = await createTestDatabase()
})
afterAll(() => store.drop())

const open = (more: { now?: () => number; masterKey?: Buffer } = {}) =>
  TokenKeyRing.open({ database: store.database, masterKey: store.masterKey, log: quiet, ...more })

async function addRsaKey(createdAtMs: number): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keyId = await calculateJwkThumbprint(
    publicKey.export({ format: 'jwk' }) as { kty: 'RSA'; n: string; e: string },
  )
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  const row = {
    key_id: keyId,
    algorithm: 'RS256',
    public_jwk: '{}',
    private_key_sealed: encryptSecret(deriveKey(store.masterKey, 'token keys'), pkcs8, `token key ${keyId}`),
    created_at: formatTimestamp(createdAtMs),
    retired_at: null,
  }
  await store.database.withRegistry((tx) => tx.db.insertInto('hub.token_keys').values(row).execute())
  return keyId
}

describe('token keys', () => {
  test('of several first starts, one makes the key', async () => {
    const rings = await Promise.all([open(), open(), open(), open()])
    const keyIds = new Set(rings.map((ring) => ring.signingKey().keyId))
    expect(keyIds.size).toBe(1)
    for (const ring of rings) ring.close()
  })

  test('the public half is published without the private one', async () => {
    const ring = await open()
    const { keys } = ring.publicKeySet()
    expect(keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: ring.signingKey().keyId,
        alg: 'ES256',
        use: 'sig',
      },
    ])
    const superuser = await store.superuserClient()
    const { rows } = await superuser.query('select * from hub.token_keys')
    const scalar = ring.signingKey().privateKey.export({ format: 'jwk' }).d ?? ''
    expect(rows[0].private_key_sealed.includes(Buffer.from(scalar, 'base64url'))).toBe(false)
    expect(JSON.stringify(rows[0].public_jwk)).not.toContain(scalar)
    ring.close()
  })

  test('another master key is a clear error', async () => {
    await expect(open({ masterKey: randomBytes(32) })).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining('another master key'),
      fix: expect.stringContaining('HUB_MASTER_KEY'),
    })
  })

  test('a new key signs once every process knows it, and a retired one verifies while its tokens live', async () => {
    let clock = Date.now()
    const ring = await open({ now: () => clock })
    const old = ring.signingKey().keyId
    const fresh = await addRsaKey(clock)
    expect(ring.verificationKey(fresh)).toBeUndefined()
    await ring.refresh()
    expect(ring.verificationKey(fresh)).toMatchObject({ algorithm: 'RS256' })
    expect(ring.signingKey().keyId).toBe(old)
    clock += 61_000
    expect(ring.signingKey().keyId).toBe(fresh)

    await store.database.withRegistry((tx) =>
      tx.db
        .updateTable('hub.token_keys')
        .set({ retired_at: formatTimestamp(clock) })
        .where('key_id', '=', old)
        .execute(),
    )
    await ring.refresh()
    expect(ring.verificationKey(old)).toBeDefined()
    clock += 3_600_000 + 61_000
    expect(ring.verificationKey(old)).toBeUndefined()
    expect(ring.publicKeySet().keys.map((key) => key.kid)).toEqual([fresh])
    ring.close()
  })
})

describe('provenance keys', () => {
  test('a tenant has one key, however often it is ensured, and signs with it', async () => {
    const keys = await createKeysModule({ database: store.database, masterKey: store.masterKey, log: quiet })
    await expect(keys.provenance.signerOf('acme')).rejects.toMatchObject({ slug: 'internal' })
    const first = await store.database.withTenant('acme', (tx) => keys.provenance.ensureKey(tx))
    const again = await store.database.withTenant('acme', (tx) => keys.provenance.ensureKey(tx))
    expect(again).toEqual(first)
    const signer = await keys.provenance.signerOf('acme')
    expect(signer).toMatchObject({ keyId: first.keyId, logName: first.name })
    expect(Buffer.from(signer.keyIdBytes).toString('hex')).toBe(signer.keyId)

    const message = Buffer.from('note\n')
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), first.publicKey])
    const publicKey = { key: spki, format: 'der', type: 'spki' } as const
    expect(verify(null, message, publicKey, signer.sign(message))).toBe(true)
    expect(await keys.provenance.publicKeysOf('acme')).toMatchObject([{ keyId: first.keyId, name: first.name }])
    keys.close()
  })

  test('inside a transaction the transaction is used, and what it rolls back is forgotten', async () => {
    const keys = await createKeysModule({ database: store.database, masterKey: store.masterKey, log: quiet })
    const { provenance } = keys
    const attempt = store.database.withTenant('initech', async (tx) => {
      const key = await provenance.ensureKey(tx)
      expect((await provenance.signerOf('initech', tx)).keyId).toBe(key.keyId)
      throw new Error('rolled back')
    })
    await expect(attempt).rejects.toThrow('rolled back')
    await expect(provenance.signerOf('initech')).rejects.toMatchObject({ slug: 'internal' })
    keys.close()
  })

  test('a sealed key moved to another tenant does not open', async () => {
    const keys = await createKeysModule({ database: store.database, masterKey: store.masterKey, log: quiet })
    await store.database.withTenant('hooli', (tx) => keys.provenance.ensureKey(tx))
    const superuser = await store.superuserClient()
    await superuser.query(`insert into hub.provenance_keys select 'thief', key_id, name, public_key, private_key_sealed, created_at
                           from hub.provenance_keys where tenant_id = 'hooli'`)
    await expect(keys.provenance.signerOf('thief')).rejects.toMatchObject({ slug: 'internal' })
    expect(await keys.provenance.publicKeysOf('thief')).toEqual([])
    keys.close()
  })

  test('a key made after the cache was filled is found when a record names it', async () => {
    const keys = await createKeysModule({ database: store.database, masterKey: store.masterKey, log: quiet })
    await store.database.withTenant('umbrella', (tx) => keys.provenance.ensureKey(tx))
    expect(await keys.provenance.publicKeysOf('umbrella')).toHaveLength(1)
    const elsewhere = new ProvenanceKeyRing(store)
    const successor = await elsewhere.prepareSuccessor('umbrella')
    await store.database.withTenant('umbrella', (tx) => elsewhere.succeed(tx, successor))
    expect(await keys.provenance.publicKeysOf('umbrella')).toHaveLength(1)
    expect(await keys.provenance.publicKeysOf('umbrella', [successor.key.keyId])).toHaveLength(2)
    expect(await keys.provenance.publicKeysOf('umbrella', ['eeee'])).toHaveLength(2)
    keys.close()
  })
})
