import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromBase64, toBase64 } from '../../provenance/bytes.ts'
import {
  canonicalize,
  decodeCosign,
  formatRecordHash,
  logLeafHash,
  parseCheckpoint,
  recordHash,
  rootFromInclusionPath,
  sealNoteOfRecord,
} from '../../provenance/index.ts'
import { unhashedMembers } from '../../provenance/verify.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { checkpointOf, get, hashes, isSigned, noReader } from './log-cases.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  read,
  unknownId,
  write,
} from './record-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

const { sha256 } = nodeCrypto

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const proofOf = (id: string) => get(hub, pathOf(id, '/proof'))

/** What anyone can do who has the record, its proof, and the key. */
async function expectInLog(id: string): Promise<void> {
  const proof = await proofOf(id)
  const record = await read(hub, 'acme', id)
  const members = Object.entries(record).filter(([name]) => !unhashedMembers.includes(name))
  const hash = recordHash(canonicalize(Object.fromEntries(members) as never), sha256)
  expect(proof.provenance_hash).toBe(formatRecordHash(hash))

  const { logName } = await hub.tenant('acme')
  const cosign = decodeCosign(record.provenance_cosign)
  const note = sealNoteOfRecord(logName, cosign, hash, sha256)
  expect(proof).toMatchObject({ record_id: id, seal_id: cosign.sealId, seal_note: note })
  expect(await isSigned(hub, note, logName)).toBe(true)

  const leaf = logLeafHash(note, sha256)
  expect(proof.leaf_hash).toBe(toBase64(leaf))
  const root = rootFromInclusionPath(proof.log_index, proof.tree_size, leaf, hashes(proof.inclusion_path), sha256)
  const checkpoint = parseCheckpoint(proof.checkpoint)
  expect(toBase64(checkpoint.root)).toBe(toBase64(root))
  expect(checkpoint).toMatchObject({ logName, treeSize: proof.tree_size })
  expect(await isSigned(hub, proof.checkpoint, logName)).toBe(true)
}

test('a record leads to a signed checkpoint as soon as it is written', async () => {
  await expectInLog(await write(hub, 'acme', decision))
  await expectInLog(await write(hub, 'acme', governanceEvent))
})

test('each record of a batch does, in a log that grows', async () => {
  await prepareTelemetry(hub, 'acme')
  const events = Array.from({ length: 130 }, () => event())
  const { body } = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  const ids = body.records.map((record: { record_id: string }) => record.record_id)
  for (const id of [ids[0], ids[63], ids[64], ids[129]]) await expectInLog(id)
})

test('a purged record keeps its proof', async () => {
  const id = await write(hub, 'acme', decision)
  const before = await proofOf(id)
  expect((await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))).status).toBe(200)
  await expectInLog(id)
  expect(await proofOf(id)).toMatchObject({ log_index: before.log_index, leaf_hash: before.leaf_hash })
})

test('beyond its recovery period it is gone', async () => {
  const id = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.record_states set hard_delete_after = now() where record_id = $1`, [id])
  expectProblem(await hub.call('acme', 'GET', pathOf(id, '/proof')), 'not-found')
})

test('an edited record does not lead to the leaf that the log has', async () => {
  const id = await write(hub, 'acme', decision)
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.records set provenance_hash = sha256('other') where record_id = $1`, [id])
  const proof = await proofOf(id)
  const leaf = fromBase64(proof.leaf_hash)
  expect(toBase64(logLeafHash(proof.seal_note, sha256))).not.toBe(proof.leaf_hash)
  const root = rootFromInclusionPath(proof.log_index, proof.tree_size, leaf, hashes(proof.inclusion_path), sha256)
  expect(toBase64(root)).toBe((await checkpointOf(hub)).root_hash)
})

test('where the seal was deleted, the log still has its leaf; a record that was slipped in has none', async () => {
  const id = await write(hub, 'acme', decision)
  const { leaf_hash } = await proofOf(id)
  const superuser = await hub.superuserClient()
  await superuser.query(
    'delete from hub.seals s using hub.records r where r.record_id = $1 and s.seal_id = r.seal_id',
    [id],
  )
  const proof = await proofOf(id)
  expect(proof.seal_note).toBeUndefined()
  expect(proof.leaf_hash).toBe(leaf_hash)
  const forged = await superuser.query<{ record_id: string }>(
    `insert into hub.records select (r).* from (
       select jsonb_populate_record(r, jsonb_build_object('record_id', $2::text, 'seal_id', $2::text)) as r
       from hub.records r where record_id = $1
     ) r returning record_id`,
    [id, id.replace(/.{12}$/, '000000000000')],
  )
  expectProblem(await hub.call('acme', 'GET', pathOf(forged.rows[0]!.record_id, '/proof')), 'not-found')
})

test('it costs the same statements however long the log is', async () => {
  const texts: string[] = []
  const counted = await startHub({ onQuery: (text) => void texts.push(text) })
  try {
    /** The least of some calls: what is kept for a while is read anew, and work goes on in the background. */
    const count = async (id: string) => {
      const counts: number[] = []
      for (let call = 0; call < 5; call++) {
        texts.length = 0
        await get(counted, pathOf(id, '/proof'))
        counts.push(texts.length)
      }
      return Math.min(...counts)
    }
    const id = await write(counted, 'acme', decision)
    const few = await count(id)
    for (let i = 0; i < 40; i++) await write(counted, 'acme', decision)
    expect(await count(id)).toBe(few)
  } finally {
    await counted.stop()
  }
})

test('types that the scopes hide, unknown, foreign and malformed ids', async () => {
  const id = await write(hub, 'acme', decision)
  const audited = await write(hub, 'acme', governanceEvent)
  const asAuditor = { scopes: ['governance:read'] as const }
  await get(hub, pathOf(audited, '/proof'), asAuditor)
  expectProblem(await hub.call('acme', 'GET', pathOf(id, '/proof'), asAuditor), 'not-found')
  expectProblem(await hub.call('acme', 'GET', pathOf(unknownId, '/proof')), 'not-found')
  expectProblem(await hub.call('globex', 'GET', pathOf(id, '/proof')), 'not-found')
  expectProblem(await hub.call('acme', 'GET', pathOf('nonsense', '/proof')), 'validation-failed', '/path/record_id')
  expect(await get(hub, pathOf(id.toUpperCase(), '/proof'))).toMatchObject({ record_id: id })
  await expectGuarded(hub, 'GET', pathOf(id, '/proof'), { lacking: noReader })
})
