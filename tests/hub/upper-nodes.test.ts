import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

/** Seals of every size: the cosignature is put together from parts that lie elsewhere in each. */
const sizes = Array.from({ length: 64 }, (_, i) => i + 1)

let lab: RecordLab
let superuser: pg.Client
let acme: Tenant
let caller: Caller
/** Record → the cosignature that its write was answered with. */
const answered = new Map<string, string>()

beforeAll(async () => {
  lab = await openRecordLab()
  superuser = await lab.superuserClient()
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
  for (const size of sizes) await writeTogether(size)
})

afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

async function writeTogether(count: number): Promise<string[]> {
  const drafts = Array.from({ length: count }, (_, i) => ({ createdBy: 'client-1', ...decision(`${count}-${i}`) }))
  const batch = await lab.records.sealer.seal(acme, drafts)
  await lab.database.withTenant('acme', (tx) => lab.records.writer.insert(tx, batch))
  for (const record of batch.records) answered.set(record.recordId, record.provenanceCosign)
  return batch.records.map((record) => record.recordId)
}

async function everyCosign(verify: boolean): Promise<Map<string, string>> {
  const cosigns = new Map<string, string>()
  let cursor: string | null = null
  do {
    const page = await lab.reading.query(caller, { limit: 1000, verify, ...(cursor ? { cursor } : {}) })
    for (const record of page.records) cosigns.set(String(record.record_id), String(record.provenance_cosign))
    if (verify) expect(page.verification_summary).toMatchObject({ verified: page.records.length })
    cursor = page.next_cursor
  } while (cursor !== null)
  return cosigns
}

describe('a cosignature is read as it was written', () => {
  test('for every record of seals of every size', async () => {
    expect(answered.size).toBe(2080)
    expect(await everyCosign(false)).toEqual(answered)
    expect(await everyCosign(true)).toEqual(answered)
  })

  test('in receipts', async () => {
    const ids = [...answered.keys()].slice(-1000)
    const receipts = await lab.database.withTenant('acme', (tx) => lab.records.receipts(tx, ids))
    expect(receipts.map((receipt) => [receipt.record_id, receipt.provenance_cosign])).toEqual(
      ids.map((id) => [id, answered.get(id)]),
    )
  })

  test('where the seal is older than the upper nodes', async () => {
    await superuser.query('begin; update hub.seals set upper_nodes = null')
    await superuser.query('commit')
    expect(await everyCosign(false)).toEqual(answered)
    expect(await everyCosign(true)).toEqual(answered)
  })
})

test('each upper node that is edited is noticed, and spoils the paths that it is on', async () => {
  const ids = await writeTogether(64)
  const { rows } = await superuser.query('select seal_id, upper_nodes from hub.seals where upper_nodes is not null')
  expect(rows).toHaveLength(1)
  expect(rows[0].upper_nodes).toHaveLength(32 * (16 + 8 + 4 + 2))
  for (const node of [0, 15, 16, 29]) {
    const edited = Buffer.from(rows[0].upper_nodes)
    edited[32 * node]! ^= 1
    await superuser.query('update hub.seals set upper_nodes = $1 where seal_id = $2', [edited, rows[0].seal_id])
    const page = await lab.reading.query(caller, {
      limit: 64,
      sort: '-created_at',
      verify: true,
      record_type: 'decision',
    })
    expect(page.verification_summary).toEqual({ checked: 64, verified: 0, tampered: 0, cosign_invalid: 64 })
    const spoilt = page.records.filter((record) => record.provenance_cosign !== answered.get(String(record.record_id)))
    const leavesBelowSibling = node < 16 ? 4 : node < 24 ? 8 : node < 28 ? 16 : 32
    expect(spoilt).toHaveLength(leavesBelowSibling)
    expect(page.records.map((record) => record.record_id)).toEqual(ids.toReversed())
  }
})
