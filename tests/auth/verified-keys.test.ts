import { generateKeyPairSync, hash, sign } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { successionNote } from '../../provenance/key-succession.ts'
import { keyIdOf } from '../../provenance/keys.ts'
import type { ProvenanceKeyRow } from '../../server/modules/keys/keys-store.ts'
import { makeProvenanceKeyRow, VerifiedKeys } from '../../server/modules/keys/provenance-key.ts'
import { ProvenanceKeyRing } from '../../server/modules/keys/provenance-keys-service.ts'
import { deriveKey } from '../../server/secrets/encryption.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')

let store: TestDatabase
let superuser: pg.Client
let count = 0
let slug: string
let logName: string
/** The key of the tenant, made by the service. */
let first: string

beforeAll(async () => {
  store = await createTestDatabase()
  superuser = await store.superuserClient()
})
afterAll(() => store.drop())

beforeEach(async () => {
  slug = `keys-${count++}`
  const keys = new ProvenanceKeyRing(store)
  const key = await store.database.withTenant(slug, (tx) => keys.ensureKey(tx))
  await store.database.withRegistry((tx) => keys.publish(tx, key))
  logName = key.name
  first = key.keyId
})

/** By a process that remembers nothing. */
const audit = () => new ProvenanceKeyRing(store).auditKeys({ slug, logName })
const trusted = async () => (await new ProvenanceKeyRing(store).publicKeysOf(slug)).map((key) => key.keyId)

/** A key of somebody who writes to the database. */
function forgeKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  return { keyId: keyIdOf(logName, raw, sha256), raw, sign: (message: Uint8Array) => sign(null, message, privateKey) }
}

async function putIn(key: ReturnType<typeof forgeKey>, sealed: Buffer = Buffer.from([0])): Promise<void> {
  await superuser.query(
    `insert into hub.provenance_keys (tenant_id, key_id, name, public_key, private_key_sealed, created_at, retired_at)
     values ($1, $2, $3, $4, $5, now() - interval '1 year', now() - interval '1 month')`,
    [slug, key.keyId, logName, key.raw, sealed],
  )
}

const publish = (key: ReturnType<typeof forgeKey>, succession: string | null = null) =>
  superuser.query(
    `insert into hub.published_keys (key_id, name, public_key, created_at, succession) values ($1, $2, $3, now() - interval '1 year', $4)`,
    [key.keyId, logName, key.raw, succession],
  )

async function rotate(): Promise<string> {
  const keys = new ProvenanceKeyRing(store)
  const successor = await keys.prepareSuccessor(slug)
  await store.database.withRegistry((tx) => keys.publish(tx, successor.key))
  await store.database.withTenant(slug, (tx) => keys.succeed(tx, successor))
  return successor.key.keyId
}

describe('a key that somebody has put into the database', () => {
  test('verifies nothing, and is found', async () => {
    const key = forgeKey()
    await putIn(key)
    expect(await trusted()).toEqual([first])
    expect(await audit()).toMatchObject({
      keys: [{ keyId: first }],
      problems: [{ keyId: key.keyId, check: 'keys_genuine' }],
    })
  })

  test('nor with the sealed half of a genuine one', async () => {
    const key = forgeKey()
    const { rows } = await superuser.query('select private_key_sealed from hub.provenance_keys where key_id = $1', [
      first,
    ])
    await putIn(key, rows[0].private_key_sealed)
    expect(await trusted()).toEqual([first])
    expect((await audit()).problems).toMatchObject([{ keyId: key.keyId, check: 'keys_genuine' }])
  })

  test('and does not sign, though it is the newest', async () => {
    await putIn(forgeKey())
    await superuser.query(
      'update hub.provenance_keys set created_at = now(), retired_at = null where tenant_id = $1 and key_id <> $2',
      [slug, first],
    )
    expect((await new ProvenanceKeyRing(store).signerOf(slug)).keyId).toBe(first)
  })

  test('is found among the published ones, and so is its introduction of the first', async () => {
    const key = forgeKey()
    await publish(key)
    const to = { name: logName, publicKey: (await new ProvenanceKeyRing(store).publicKeysOf(slug))[0]!.publicKey }
    const note = successionNote({ logName, fromKeyId: key.keyId, to, timeMicros: 1 }, { sha256, sign: key.sign })
    for (const table of ['provenance_keys', 'published_keys']) {
      await superuser.query(`update hub.${table} set succession = $2 where key_id = $1`, [first, note])
    }
    expect((await audit()).problems).toMatchObject([
      { keyId: first, check: 'keys_introduced' },
      { keyId: key.keyId, check: 'keys_published' },
    ])
  })

  test('in the place of the public half of a genuine one', async () => {
    const { raw } = forgeKey()
    await superuser.query('update hub.provenance_keys set public_key = $2 where key_id = $1', [first, raw])
    expect(await trusted()).toEqual([])
    expect((await audit()).problems).toMatchObject([
      { keyId: first, check: 'keys_genuine' },
      { check: 'keys_genuine' },
      { keyId: first, check: 'keys_published' },
    ])
  })
})

describe('keys that the service made', () => {
  test('are all good after rotations, and after one that failed once its key was published', async () => {
    const second = await rotate()
    const third = await rotate()
    const keys = new ProvenanceKeyRing(store)
    const lost = await keys.prepareSuccessor(slug)
    await store.database.withRegistry((tx) => keys.publish(tx, lost.key))
    expect(await trusted()).toEqual([first, second, third])
    const { keys: found, problems } = await audit()
    expect(problems).toEqual([])
    expect(found.map((key) => key.keyId)).toEqual([first, second, third])
  })

  test.each([
    ['are published', 'delete from hub.published_keys where key_id = $1', 'keys_published'],
    ['as they are', `update hub.published_keys set public_key = sha256('x') where key_id = $1`, 'keys_published'],
    ['with their introduction', 'update hub.published_keys set succession = null where key_id = $1', 'keys_published'],
    ['and have one', 'update hub.provenance_keys set succession = null where key_id = $1', 'keys_introduced'],
  ])('%s', async (_, statement, check) => {
    const second = await rotate()
    await superuser.query(statement, [second])
    expect((await audit()).problems).toContainEqual({ keyId: second, check, problem: expect.any(String) })
  })

  test('are opened once, as long as no byte of them changes', () => {
    const sealingKey = deriveKey(store.masterKey, 'provenance keys')
    const row = { ...makeProvenanceKeyRow(sealingKey, { tenantId: slug, name: logName }), tenant_id: slug }
    const genuine = new VerifiedKeys(sealingKey)
    const signer = genuine.open(row)
    expect(signer).toBeDefined()
    expect(genuine.open({ ...row })).toBe(signer)
    const flipped = Buffer.from(row.private_key_sealed)
    flipped[20]! ^= 1
    const changes: Partial<ProvenanceKeyRow>[] = [
      { private_key_sealed: flipped },
      { tenant_id: 'other' },
      { name: `${logName}x` },
      { public_key: forgeKey().raw },
      { key_id: first },
    ]
    for (const change of changes) expect(genuine.open({ ...row, ...change })).toBeUndefined()
  })
})
