import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KeyRing } from '../../provenance/index.ts'
import { parseKeyDocument, verifySuccessionSync } from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { ProvenanceKeyRotator } from '../../server/modules/keys/provenance-key-rotation.ts'
import { ProvenanceKeyRing } from '../../server/modules/keys/provenance-keys-service.ts'
import { PublishedKeys } from '../../server/modules/keys/published-keys-service.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from '../hub/record-lab.ts'
import { nodeCrypto, sha256 } from '../provenance/node-crypto.ts'

let lab: RecordLab
const integrated: string[] = []
beforeAll(async () => {
  lab = await openRecordLab()
})
afterAll(() => lab.drop())

const operator = { operator: 'test' }
const rotationBy = (keys: RecordLab['keys']) =>
  new ProvenanceKeyRotator({
    database: lab.database,
    keys,
    governance: lab.governance,
    logs: {
      integrate: async ({ slug }) => {
        integrated.push(slug)
        return { treeSize: 0, root: new Uint8Array(32), checkpoint: '' }
      },
    },
  })
const rotate = (tenant: Tenant) => rotationBy(lab.keys).rotate(tenant, operator)

async function published(): Promise<KeyRing> {
  const { json } = await new PublishedKeys(lab.database).document()
  return parseKeyDocument(JSON.parse(json), sha256)
}

/** A tenant whose first key is published, as the administration does. */
async function open(slug: string): Promise<{ tenant: Tenant; first: string }> {
  const tenant = await lab.openTenant(slug)
  const key = await lab.database.withTenant(slug, (tx) => lab.keys.ensureKey(tx))
  await lab.database.withRegistry((tx) => lab.keys.publish(tx, key))
  return { tenant, first: key.keyId }
}

/** The keys that sealed the records of a tenant, in the order of their seals. */
async function sealedBy(slug: string): Promise<string[]> {
  const superuser = await lab.superuserClient()
  const { rows } = await superuser.query('select key_id from hub.seals where tenant_id = $1 order by seal_id', [slug])
  return rows.map((row) => row.key_id)
}

describe('rotating the provenance key of a tenant', () => {
  test('new records are sealed with the new key, and those before still verify', async () => {
    const { tenant, first } = await open('acme')
    const caller = callerOf(tenant)
    const [before] = await lab.write(tenant, decision('before'))
    const rotation = await rotate(tenant)
    expect(rotation).toEqual({ tenant: 'acme', key_id: expect.stringMatching(/^[0-9a-f]{32}$/), retired_key_id: first })
    expect(rotation.key_id).not.toBe(first)
    const [after] = await lab.write(tenant, decision('after'))
    const sealers = await sealedBy('acme')
    expect([sealers[0], sealers.at(-1)]).toEqual([first, rotation.key_id])
    for (const id of [before!, after!]) {
      expect((await lab.reading.verify(caller, id)).verified).toBe(true)
    }
  })

  test('the log keeps its name, and gets a head from the new key', async () => {
    const { tenant } = await open('logged')
    integrated.length = 0
    await rotate(tenant)
    expect(integrated).toEqual(['logged'])
    expect(await lab.keys.signerOf('logged')).toMatchObject({ logName: tenant.logName })
  })

  test('whoever pins the first key can follow the published chain', async () => {
    const { tenant, first } = await open('chained')
    const ids = [first]
    for (let times = 0; times < 3; times++) ids.push((await rotate(tenant)).key_id)
    const keys = await published()
    expect(verifySuccessionSync(keys, [first], nodeCrypto)).toEqual({ trusted: new Set(ids), distrusted: new Map() })
    expect(ids.map((id) => keys.get(id)?.retiredAt !== undefined)).toEqual([true, true, true, false])
    expect(new Set(ids.map((id) => keys.get(id)?.name))).toEqual(new Set([tenant.logName]))
  })

  test('a governance event tells of it, without the key', async () => {
    const { tenant, first } = await open('told')
    const { key_id } = await rotate(tenant)
    const { records } = await lab.reading.query(callerOf(tenant), { event_kind: 'tenant.config_changed' })
    expect(records).toMatchObject([
      {
        subject: `key:${key_id}`,
        details: {
          actor: 'operator:test',
          change: 'provenance_key',
          before: { key_id: first },
          after: { key_id },
        },
      },
    ])
  })

  test('another process signs with the new key within five seconds, and verifies what it signed at once', async () => {
    const { tenant } = await open('shared')
    const elsewhere = new ProvenanceKeyRing({ database: lab.database, masterKey: lab.masterKey })
    await elsewhere.signerOf('shared')
    const { key_id } = await rotate(tenant)
    expect((await elsewhere.publicKeysOf('shared', [key_id])).map((key) => key.keyId)).toContain(key_id)
    await expect.poll(async () => (await elsewhere.signerOf('shared')).keyId, { interval: 100 }).toBe(key_id)
  })

  test('of two at the same time one gives up, and no chain breaks', async () => {
    const { tenant, first } = await open('contested')
    const another = new ProvenanceKeyRing({ database: lab.database, masterKey: lab.masterKey })
    // Both prepare before either stores: the second one's predecessor is retired by then.
    const mine = await lab.keys.prepareSuccessor('contested')
    const theirs = await rotationBy(another).rotate(tenant, operator)
    await expect(lab.database.withTenant('contested', (tx) => lab.keys.succeed(tx, mine))).rejects.toMatchObject({
      slug: 'concurrent-modification',
      message: expect.stringContaining(first),
    })
    const attempts = await Promise.allSettled([rotate(tenant), rotationBy(another).rotate(tenant, operator)])
    const failures = attempts.filter((attempt) => attempt.status === 'rejected')
    for (const { reason } of failures) expect(reason).toMatchObject({ slug: 'concurrent-modification' })
    expect(failures.length).toBeLessThan(2)
    const keys = await published()
    const current = (await new ProvenanceKeyRing(lab).signerOf('contested')).keyId
    const { trusted, distrusted } = verifySuccessionSync(keys, [first], nodeCrypto)
    expect([trusted.has(theirs.key_id), trusted.has(current), distrusted.size]).toEqual([true, true, 0])
    const active = [...keys.values()].filter((key) => key.name === tenant.logName && key.retiredAt === undefined)
    expect(active.map((key) => key.keyId)).toEqual([current])
  })

  test('a rotation that ends after the next one leaves its successor published as current', async () => {
    const { tenant } = await open('overtaken')
    const first = await lab.keys.prepareSuccessor('overtaken')
    await lab.database.withRegistry((tx) => lab.keys.publish(tx, first.key))
    await lab.database.withTenant('overtaken', (tx) => lab.keys.succeed(tx, first))
    const { key_id } = await rotate(tenant)
    await lab.database.withRegistry((tx) => lab.keys.retirePublished(tx, first))
    const keys = [...(await published()).values()].filter((key) => key.name === tenant.logName)
    expect(keys.filter((key) => key.retiredAt === undefined).map((key) => key.keyId)).toEqual([key_id])
  })

  test('nothing is stored of a rotation that fails', async () => {
    const { tenant, first } = await open('failing')
    const rotation = new ProvenanceKeyRotator({
      database: lab.database,
      keys: lab.keys,
      governance: {
        append: () => Promise.reject(new Error('no room')),
        appendAll: () => Promise.reject(new Error('no room')),
      },
      logs: { integrate: () => Promise.reject(new Error('not reached')) },
    })
    await expect(rotation.rotate(tenant, operator)).rejects.toThrow('no room')
    expect((await new ProvenanceKeyRing(lab).signerOf('failing')).keyId).toBe(first)
    expect(await new ProvenanceKeyRing(lab).publicKeysOf('failing')).toHaveLength(1)
  })
})
