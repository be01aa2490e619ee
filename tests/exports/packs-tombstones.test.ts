import { copyFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { type ExportsHub, startExportsHub } from './ordered-exports.ts'
import { archiveOf, filesIn, openPacksLab, rowsIn } from './packs-lab.ts'

/** A pack with deletion certificates, for both verifiers. */
const vector = new URL('../../provenance/vectors/evidence-pack.tar.gz', import.meta.url).pathname
const certificates = 'deletion-certificates.jsonl'
const time = fakeClock()
const now = () => new Date(time.wallMs()).toISOString()
let lab: ExportsHub
let packs: Awaited<ReturnType<typeof openPacksLab>>
let start: string
/** Erased in this order: the pack lists their certificates by id. */
const erased: string[] = []

beforeAll(async () => {
  start = now()
  lab = await startExportsHub({ time })
  packs = await openPacksLab(lab)
  for (const title of ['One', 'Two', 'Three']) {
    const { body } = await lab.call('acme', 'POST', '/api/v1/hub/records', {
      body: { record_type: 'artifact', title },
    })
    erased.push(body.record_id)
    await lab.call('acme', 'DELETE', `/api/v1/hub/records/${body.record_id}?reason=Request%20${title}`)
    time.step({ ms: 1000 })
  }
  time.step({ days: 31 })
  await lab.hub.modules.hub.erasure.run(await lab.hub.tenant('acme'))
  time.step({ ms: 1000 })
})
afterAll(async () => {
  await lab.close()
  await packs.close()
})

/** Damages the tombstone of the second record while `work` runs. */
async function withTombstone<Result>(change: string, value: unknown, work: () => Promise<Result>): Promise<Result> {
  const client = await lab.hub.superuserClient()
  const [, id] = erased
  const { rows } = await client.query('select * from hub.tombstones where record_id = $1', [id])
  const changed = await client.query(`update hub.tombstones set ${change} = $2 where record_id = $1`, [id, value])
  expect(changed.rowCount).toBe(1)
  try {
    return await work()
  } finally {
    await client.query(`update hub.tombstones set ${change} = $2 where record_id = $1`, [id, rows[0][change]])
  }
}

const failuresOf = async (path: string) => {
  const { outcome, report } = await packs.verified(path)
  return { outcome, failures: report.failures }
}
const order = () => packs.ordered('acme', { from: start, to: now() })

test('sound tombstones give a pack that verifies', async () => {
  const path = await order()
  expect(rowsIn(await filesIn(path), certificates).map(({ record_id }) => record_id)).toEqual(erased)
  expect(await failuresOf(path)).toEqual({ outcome: 'verified', failures: [] })
  if (process.env.HUB_WRITE_PACK_VECTOR === 'yes') await copyFile(path, vector)
})

test('the stored pack, which the Python verifier checks too, still verifies', async () => {
  const { outcome, report, proof } = await packs.verified(vector)
  expect([outcome, report.failures]).toEqual(['verified', []])
  expect(proof.pack).toMatchObject({ completeness: 'enclosed', certificates: 3 })
})

test.each<[string, unknown, string]>([
  ['purge_reason', 'Another reason', 'events_agree: /events/erased/details/reason'],
  ['purged_by', 'user:somebody-else', 'events_agree: /events/erased/details/purged_by'],
  ['record_type', 'decision', 'events_agree: /events/erased/details/record_type'],
  ['purged_at', '2020-01-01T00:00:00Z', 'events_agree: /events/erased/details/purged_at'],
  ['erased_at', '2020-01-01T00:00:00Z', 'events_agree: /events/erased/details/erased_at'],
])('a tombstone whose %s was edited in the database fails the pack, and is named', async (member, value, reason) => {
  const { outcome, failures } = await withTombstone(member, value, async () => failuresOf(await order()))
  expect(outcome).toBe('failed')
  const [failure] = failures
  expect(failures).toHaveLength(1)
  expect(failure).toMatchObject({ line: 2, record_id: erased[1] })
  expect(failure!.reason).toContain(`${certificates}: certificate: ${reason}`)
})

test('a tombstone that names the erasure of another record fails the pack, and is named', async () => {
  const client = await lab.hub.superuserClient()
  const { rows } = await client.query('select event_id from hub.tombstones where record_id = $1', [erased[0]])
  const { outcome, failures } = await withTombstone('event_id', rows[0].event_id, async () => failuresOf(await order()))
  expect([outcome, failures.map(({ record_id }) => record_id)]).toEqual(['failed', [erased[1]]])
})

test('a tombstone whose evidence is no longer stored is named in the pack, which has all others', async () => {
  const unknown = '00000000-0000-7000-8000-000000000000'
  const path = await withTombstone('event_id', unknown, order)
  const rows = rowsIn(await filesIn(path), certificates)
  expect(rows.map(({ record_id }) => record_id)).toEqual(erased)
  expect(rows[1]).toEqual({
    ...{ record_id: erased[1], certificate: null },
    problem: 'the stored evidence is damaged or missing',
  })
  const { outcome, failures } = await failuresOf(path)
  // One failure for each member of a certificate that is missing.
  const places = new Set(failures.map(({ line, record_id }) => `${line} ${record_id}`))
  expect([outcome, ...places]).toEqual(['failed', `2 ${erased[1]}`])
  expect((await failuresOf(await order())).outcome).toBe('verified')
})

test.each<[string, string, string]>([
  ['reason', '"purge_reason":"Request Two"', '"purge_reason":"Request Six"'],
  ['time of purge', '"purged_at":"20', '"purged_at":"19'],
  ['record type', '"record_type":"artifact"', '"record_type":"decision"'],
  ['erasure event', '"reason":"Request Two"', '"reason":"Request Six"'],
])('a certificate in the pack whose %s was edited fails, and is named', async (_, sound, edited) => {
  const files = await filesIn(await order())
  const lines = files.get(certificates)!.toString().split('\n')
  expect(lines[1]).toContain(sound)
  // Of the same size: a file of another size is refused before it is read.
  lines[1] = lines[1]!.replace(sound, edited)
  files.set(certificates, Buffer.from(lines.join('\n')))
  const { outcome, failures } = await failuresOf(await packs.save(await archiveOf(files)))
  expect(outcome).toBe('failed')
  expect(failures).toContainEqual({
    ...{ line: 2, record_id: erased[1] },
    reason: expect.stringContaining(`${certificates}: certificate: event`),
  })
  expect(failures.map(({ reason }) => reason)).toContain(
    `file-hash: ${certificates} does not have the SHA-256 that the manifest states`,
  )
})
