import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseKeyDocument, verifyProofBundleSync, verifyRecordSync } from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { filesIn, openPacksLab, rowsIn } from '../exports/packs-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { type ModeB, modeB } from './mode-b-lab.ts'

/** Records of a tenant whose key was destroyed: all operations answer what is left of them. */

const records = '/api/v1/hub/records'
let hub: TestHub
let b: ModeB
let first: Record<string, string>
let second: Record<string, string>
let eventId: string
let keyId: string
let etag: string

beforeAll(async () => {
  hub = await startHub()
  b = await modeB(hub, 'ended')
  await b.ready()
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
  first = await write({ record_type: 'artifact', title: 'Xylophone', content: { note: 'Xylophone' } })
  second = await write({
    ...{ record_type: 'output', skill_id: 'sum', title: 'Xylophone', cost_usd_estimate: 0.25 },
    related_records: [first.record_id],
  })
  const sent = await b.call('POST', '/api/v1/telemetry/events', event({ skill_id: 'sum' }))
  expect(sent.status, sent.text).toBe(201)
  eventId = sent.body.record_id
  etag = String((await b.call('GET', `${records}/${first.record_id}`)).headers.etag)
  const destroyed = await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: b.slug, reason: 'over' })
  expect(destroyed.status, destroyed.text).toBe(200)
  keyId = destroyed.body.key_ids[0]
})
afterAll(() => hub.stop())

async function write(body: Record<string, unknown>): Promise<Record<string, string>> {
  const answer = await b.call('POST', records, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

const sound = {
  verified: true,
  checks: {
    provenance_hash_matches: true,
    provenance_cosign_valid: true,
    schema_version_supported: true,
    no_active_legal_hold_violation: true,
  },
  content: 'unavailable',
}

// First, because later tests edit the stored rows.
test('an evidence pack has their hashes and proofs, and says that the content is left out', async () => {
  const packs = await openPacksLab({
    call: async (_tenant, method, path, { body } = {}) => {
      const answer = await b.call(method, path, body)
      return { ...answer, headers: new Headers() }
    },
    ended: async (_tenant, jobId) => {
      const read = async () => (await b.call('GET', `/api/v1/hub/exports/${jobId}`)).body
      await expect.poll(async () => (await read()).status).not.toMatch(/queued|running/)
      return read()
    },
  })
  try {
    const to = new Date().toISOString()
    const path = await packs.ordered(b.slug, { from: '2020-01-01T00:00:00Z', to, include_content: true })
    const rows = rowsIn(await filesIn(path), 'records.jsonl')
    const row = rows.find(({ record_id }) => record_id === second.record_id)
    expect(row).toMatchObject({ content_omitted: true, skill_id: 'sum', provenance_hash: second.provenance_hash })
    expect(JSON.stringify(rows)).not.toContain('Xylophone')
    const { report, proof } = await packs.verified(path)
    expect(report.failures).toEqual([])
    expect(proof.pack?.completeness).toBe('enclosed')
  } finally {
    await packs.close()
  }
})

describe('a record whose content is gone', () => {
  test('is answered with what is left, and says so', async () => {
    const answer = await b.call('GET', `${records}/${second.record_id}`)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toEqual({
      ...second,
      record_type: 'output',
      tenant_id: 'ended',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      created_by: expect.any(String),
      schema_version: '1.0',
      related_records: [first.record_id],
      skill_id: 'sum',
      cost_usd_estimate: 0.25,
      content: 'unavailable',
      content_key_id: keyId,
      is_purged: false,
    })
    expect(answer.text).not.toContain('Xylophone')
  })

  test('verifies: hash and cosignature against the seal, and its place in the log', async () => {
    const verified = await b.call('POST', `${records}/${first.record_id}/verify`)
    expect([verified.status, verified.body]).toEqual([200, sound])
    const read = await b.call('GET', `${records}/${first.record_id}?verify=true`)
    expect(read.body).toMatchObject({ content: 'unavailable', verification: sound })
    expect((await b.call('GET', `${records}/${first.record_id}/proof`)).status).toBe(200)
    const bundle = await b.call('GET', `${records}/${first.record_id}/proof-bundle`)
    expect(bundle.body.record).toMatchObject({ content: 'unavailable', content_key_id: keyId })
    const keyRing = parseKeyDocument({ keys: bundle.body.public_keys }, nodeCrypto.sha256)
    expect(verifyProofBundleSync(bundle.body, keyRing, nodeCrypto).failures).toEqual([
      {
        check: 'provenance_hash_matches',
        detail: expect.stringContaining(`the content is gone with the key ${keyId}`),
      },
    ])
    expect(await b.events('hub.tamper_detected')).toEqual([])
  })

  test('is not the record that an entity tag names', async () => {
    const answer = await b.call('GET', `${records}/${first.record_id}`, undefined, { 'if-none-match': etag })
    expect([answer.status, answer.body.content]).toEqual([200, 'unavailable'])
  })

  test('is listed, filtered and counted in queries', async () => {
    const page = await b.call('GET', `${records}?verify=true&limit=100`)
    const gone = page.body.records.filter(({ content }: { content?: string }) => content === 'unavailable')
    expect(gone.map(({ record_type }: { record_type: string }) => record_type).sort()).toEqual([
      ...['artifact', 'output', 'skill_definition', 'telemetry_event'],
    ])
    for (const each of gone) expect(each).toMatchObject({ content_key_id: keyId, verification: sound })
    const { checked } = page.body.verification_summary
    expect(page.body.verification_summary).toEqual({ checked, verified: checked, tampered: 0, cosign_invalid: 0 })
    const ids = async (query: string) =>
      (await b.call('GET', `${records}?${query}`)).body.records.map(({ record_id }: { record_id: string }) => record_id)
    expect(await ids('skill_id=sum')).toEqual([second.record_id, eventId])
    expect(await ids('sort=-cost_usd_estimate&record_type=output')).toEqual([second.record_id])
    expect(await ids(`record_id=${first.record_id}`)).toEqual([first.record_id])
    const one = await b.call('GET', `${records}?record_type=output&limit=1`)
    expect(one.body).toMatchObject({ records: [{ record_id: second.record_id }], next_cursor: null })
  })

  test('is related to others as before', async () => {
    for (const [root, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const answer = await b.call('GET', `${records}/${root.record_id}/related`)
      expect(answer.body).toMatchObject({
        root: root.record_id,
        records: [
          { record_id: root.record_id, content: 'unavailable' },
          { record_id: other.record_id, content: 'unavailable' },
        ],
        edges: [{ from: second.record_id, to: first.record_id }],
      })
    }
  })

  test('is hidden from whoever may not read it, and from other tenants', async () => {
    const other = await hub.call('acme', 'GET', `${records}/${first.record_id}`)
    expect(other.status).toBe(404)
    expect((await hub.call('acme', 'POST', `${records}/${first.record_id}/verify`)).status).toBe(404)
    const without = await fetch(`${hub.baseUrl}${records}/${first.record_id}`, {
      headers: { 'x-service-tenant': b.slug },
    })
    expect([without.status, (await without.text()).includes('unavailable')]).toEqual([401, false])
  })

  test('is not verified offline: the answer alone does not prove that the content was destroyed', async () => {
    const { body: record } = await b.call('GET', `${records}/${first.record_id}`)
    const given = { record, hash: record.provenance_hash, cosign: record.provenance_cosign, keys: new Map() }
    const { verified, failures } = verifyRecordSync(given, nodeCrypto)
    expect(verified).toBe(false)
    expect(failures.find(({ check }) => check === 'provenance_hash_matches')).toMatchObject({
      code: 'content-unavailable',
      detail: expect.stringContaining(keyId),
    })
    const whole = { ...record, content_key_id: undefined, title: 'x' }
    const edited = verifyRecordSync({ ...given, record: JSON.parse(JSON.stringify(whole)) }, nodeCrypto)
    expect(edited.failures[0]?.code).toBe('hash-mismatch')
  })

  test('can be purged and restored', async () => {
    const purged = await b.call('DELETE', `${records}/${first.record_id}?reason=over`)
    expect(purged.status, purged.text).toBe(200)
    const { body } = await b.call('GET', `${records}/${first.record_id}?verify=true`)
    expect(body).toMatchObject({ is_purged: true, content: 'unavailable', verification: { verified: true } })
    expect((await b.call('POST', `${records}/${first.record_id}:restore`)).status).toBe(200)
  })
})

describe('what only claims to be gone', () => {
  let put: (assignment: string, values: unknown[], id: string | undefined) => Promise<unknown>
  beforeAll(async () => {
    const client = await hub.superuserClient()
    put = (assignment, values, id) =>
      client.query(`update hub.records set ${assignment} where record_id = $1`, [id, ...values])
  })
  const verifyOf = async (id: string | undefined) => (await b.call('POST', `${records}/${id}/verify`)).body

  test('fails where an event of the service was put under the destroyed key', async () => {
    const [told] = await b.events('cmek.key_created')
    const id = String(told?.record_id)
    await put('canonical = $2', [`omhe1.${keyId}.${id}.AAAA`], id)
    expect(await verifyOf(id)).toMatchObject({
      verified: false,
      checks: { provenance_hash_matches: false, provenance_cosign_valid: true },
      content: 'unavailable',
    })
  })

  test('fails where the stored hash is another one', async () => {
    await put('provenance_hash = $2', [Buffer.alloc(32, 7)], second.record_id)
    expect(await verifyOf(second.record_id)).toMatchObject({
      verified: false,
      checks: { provenance_hash_matches: false, provenance_cosign_valid: false },
    })
  })
})
