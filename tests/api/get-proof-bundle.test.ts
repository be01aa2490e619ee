import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reportText } from '../../cli/verify/report-text.ts'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { decodeCosign, parseCheckpoint } from '../../provenance/index.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { get, noReader } from './log-cases.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  read,
  skillDefinition,
  unknownId,
  write,
} from './record-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

let hub: TestHub
let directory: string
let keys: string
beforeAll(async () => {
  hub = await startHub()
  directory = await mkdtemp(join(tmpdir(), 'hub-bundle-'))
  keys = await save('keys.json', JSON.stringify(await get(hub, '/.well-known/provenance-keys.json')))
})
afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

async function save(name: string, content: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

const bundlePath = (id: string) => pathOf(id, '/proof-bundle')

/** Verifies a response as a file, with keys that were fetched apart. */
async function verify(text: string) {
  const { outcome, report } = await verifyFile(await save('bundle.json', text), { keys })
  return { outcome, reasons: report.failures.map(({ reason }) => reason) }
}

async function expectProven(id: string, tenant: TestTenant = 'acme'): Promise<void> {
  const { status, text } = await hub.call(tenant, 'GET', bundlePath(id))
  expect(status, text).toBe(200)
  expect(await verify(text)).toEqual({ outcome: 'verified', reasons: [] })
}

test('a record with its proof, right after it is written', async () => {
  const id = await write(hub, 'acme', decision)
  const bundle = await get(hub, bundlePath(id))
  const record = await read(hub, 'acme', id)
  const cosign = decodeCosign(record.provenance_cosign)
  const { logName } = await hub.tenant('acme')
  const published = await get(hub, '/.well-known/provenance-keys.json')
  const proof = await get(hub, pathOf(id, '/proof'))
  expect(bundle).toEqual({
    bundle_version: 1,
    record,
    provenance_hash: record.provenance_hash,
    provenance_cosign: record.provenance_cosign,
    seal: { seal_id: cosign.sealId, leaf_index: 0, leaf_count: 1, note: proof.seal_note },
    inclusion_proof: {
      log_index: proof.log_index,
      tree_size: parseCheckpoint(bundle.checkpoint).treeSize,
      leaf_hash: proof.leaf_hash,
      path: expect.any(Array),
    },
    checkpoint: expect.stringContaining(logName),
    public_keys: published.keys.filter((key: { name: string }) => key.name === logName),
    how_to_verify: expect.stringContaining('hub verify FILE'),
  })
  await expectProven(id)
})

test('records of every type, of a batch and of Mode C', async () => {
  await expectProven(await write(hub, 'acme', governanceEvent))
  await prepareTelemetry(hub, 'acme')
  const events = Array.from({ length: 70 }, () => event())
  const { body } = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  for (const at of [0, 63, 64, 69]) await expectProven(body.records[at].record_id)
  await expectProven(await write(hub, 'cmode', skillDefinition('sum')), 'cmode')
})

test('without other keys, the bundle brings its own, and the report says so', async () => {
  const id = await write(hub, 'acme', decision)
  const { text } = await hub.call('acme', 'GET', bundlePath(id))
  const file = await save('own.json', text)
  const { outcome, trust, proof } = await verifyFile(file, {})
  expect([outcome, proof.bundle]).toMatchObject(['verified', { recordId: id, sealed: { recordType: 'decision' } }])
  expect(trust).toMatch(/^trust on first use: the keys are those that the proof bundle itself brings/)
  expect(reportText(await verifyFile(file, {}))).toContain('\nNot proved: is_purged, ')
  const forged = text.replace('"is_purged":false', '"is_purged":false,"verification":{"verified":true}')
  expect(await verify(forged)).toMatchObject({
    outcome: 'failed',
    reasons: expect.arrayContaining([expect.stringContaining('/record: "verification" is not a member')]),
  })
  const altered = await verifyFile(await save('altered.json', text.replace('Usage grew.', 'Usage fell.')), {})
  expect(altered.report.failures).toEqual([
    {
      line: 1,
      record_id: id,
      reason: 'bundle: provenance_hash_matches: hash-mismatch: the record does not have the stored hash',
    },
  ])
  await expect(
    verifyFile(await save('late.json', text.replace('"bundle_version":1', '"bundle_version":2')), {}),
  ).rejects.toThrow('This proof bundle has version 2; this program verifies up to version 1.')
})

test('on request it proves that the log continues a checkpoint that somebody kept', async () => {
  await write(hub, 'acme', decision)
  const kept = parseCheckpoint((await get(hub, '/api/v1/hub/log/checkpoint')).checkpoint)
  const id = await write(hub, 'acme', decision)
  const { text, body } = await hub.call('acme', 'GET', `${bundlePath(id)}?consistency_from=${kept.treeSize}`)
  const root = Buffer.from(kept.root).toString('base64')
  expect(body.consistency_from).toEqual({ tree_size: kept.treeSize, root_hash: root, path: expect.any(Array) })
  expect(parseCheckpoint(body.checkpoint).treeSize).toBeGreaterThan(kept.treeSize)
  expect(await verify(text)).toEqual({ outcome: 'verified', reasons: [] })
  const report = reportText(await verifyFile(await save('kept.json', text), { keys }))
  expect(report).toContain(`the checkpoint continues the log of ${kept.treeSize} leaves and the root ${root}: compare`)
  const changed = { ...body.consistency_from, root_hash: body.inclusion_proof.leaf_hash }
  const other = JSON.stringify({ ...body, consistency_from: changed })
  expect((await verify(other)).reasons).toEqual([expect.stringContaining('/consistency_from: the checkpoint does not')])
  for (const size of ['0', '-1', 'x', String(Number.MAX_SAFE_INTEGER)]) {
    const refused = await hub.call('acme', 'GET', `${bundlePath(id)}?consistency_from=${size}`)
    expectProblem(refused, 'validation-failed', '/query/consistency_from')
  }
})

test('a rotated key: the bundle has both, and either is enough as a pin', async () => {
  const id = await write(hub, 'acme', decision)
  await hub.modules.provenanceKeyRotation.rotate(await hub.tenant('acme'), { operator: 'test' })
  const { body, text } = await hub.call('acme', 'GET', bundlePath(id))
  expect(body.public_keys).toHaveLength(2)
  // The pinned document is from before the rotation.
  expect(await verify(text)).toEqual({ outcome: 'verified', reasons: [] })
  await expectProven(await write(hub, 'acme', decision))
})

test('a purged record keeps its bundle until it is erased', async () => {
  const id = await write(hub, 'acme', decision)
  expect((await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))).status).toBe(200)
  expect((await get(hub, bundlePath(id))).record.is_purged).toBe(true)
  await expectProven(id)
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.record_states set hard_delete_after = now() where record_id = $1`, [id])
  expectProblem(await hub.call('acme', 'GET', bundlePath(id)), 'not-found')
})

test('a record, a seal or a hash that was edited in the database', async () => {
  const superuser = await hub.superuserClient()
  const edited = await write(hub, 'acme', decision)
  await superuser.query(
    `update hub.records set canonical = replace(canonical, 'Usage grew.', 'Usage fell.') where record_id = $1`,
    [edited],
  )
  expect(await verify((await hub.call('acme', 'GET', bundlePath(edited))).text)).toMatchObject({
    outcome: 'failed',
    reasons: [expect.stringContaining('provenance_hash_matches')],
  })
  await superuser.query(`update hub.records set provenance_hash = sha256('other') where record_id = $1`, [edited])
  const rehashed = await verify((await hub.call('acme', 'GET', bundlePath(edited))).text)
  expect(rehashed.reasons.join()).toContain('/inclusion_proof/leaf_hash is not the hash of /seal/note')
  const unsealed = await write(hub, 'acme', decision)
  await superuser.query(
    'delete from hub.seals s using hub.records r where r.record_id = $1 and s.seal_id = r.seal_id',
    [unsealed],
  )
  expect(await verify((await hub.call('acme', 'GET', bundlePath(unsealed))).text)).toMatchObject({
    outcome: 'failed',
    reasons: expect.arrayContaining([expect.stringContaining('/seal/leaf_count is missing')]),
  })
})

test('types that the scopes hide, unknown, foreign and malformed ids', async () => {
  const id = await write(hub, 'acme', decision)
  const audited = await write(hub, 'acme', governanceEvent)
  const asAuditor = { scopes: ['governance:read'] as const }
  await get(hub, bundlePath(audited), asAuditor)
  expectProblem(await hub.call('acme', 'GET', bundlePath(id), asAuditor), 'not-found')
  expectProblem(await hub.call('acme', 'GET', bundlePath(unknownId)), 'not-found')
  expectProblem(await hub.call('globex', 'GET', bundlePath(id)), 'not-found')
  expectProblem(await hub.call('acme', 'GET', bundlePath('nonsense')), 'validation-failed', '/path/record_id')
  expectProblem(await hub.call('acme', 'GET', `${bundlePath(id)}?x=1`), 'validation-failed', '/query/x')
  expect((await get(hub, bundlePath(id.toUpperCase()))).record.record_id).toBe(id)
  await expectGuarded(hub, 'GET', bundlePath(id), { lacking: noReader })
})
