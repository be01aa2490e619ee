import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decryptContent } from '../../server/db/record-encryption.ts'
import { startSecondHub } from '../auth/second-hub.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type ModeB, modeB } from './mode-b-lab.ts'

const rotations = 12
let hub: TestHub
let b: ModeB

beforeAll(async () => {
  hub = await startHub()
  b = await modeB(hub, 'rotor')
  await b.ready()
  for (let i = 0; i < rotations; i += 1) {
    expect((await b.call('POST', '/api/v1/hub/cmek:rotate', {})).status).toBe(200)
    const artifact = { record_type: 'artifact', title: `Title ${i}` }
    expect((await b.call('POST', '/api/v1/hub/records', artifact)).status).toBe(201)
  }
})
afterAll(() => hub.stop())

test('a process without any key reads, in one transaction, texts of more keys than a transaction is repeated for', async () => {
  const second = await startSecondHub(hub, { settings: { keyringDir: join(hub.dataDir, 'keyring') } })
  let runs = 0
  try {
    const texts = await second.database.withTenant('rotor', async (tx) => {
      runs += 1
      const { rows } = await tx.client.query<{ record_id: string; canonical: string }>(
        "select record_id, canonical from hub.records where tenant_id = $1 and canonical like 'omhe1.%'",
        ['rotor'],
      )
      return rows.map((row) => decryptContent(tx, row.record_id, row.canonical))
    })
    for (let i = 0; i < rotations; i += 1) expect(texts.join()).toContain(`Title ${i}`)
    // Which keys there are, the first of those rotated away (and with it the others), and the active one.
    expect(runs).toBeLessThanOrEqual(4)
  } finally {
    await second.stop()
  }
})

test('texts with made-up key ids do not keep the others from being read', async () => {
  const page = await b.call('GET', '/api/v1/hub/records?record_type=artifact&limit=1')
  const recordId = page.body.records[0].record_id
  const madeUp = (n: number) => `omhe1.ck_${n.toString(16).padStart(24, '0')}.${recordId}.AAAA`
  const opened = await hub.test.database.withTenant('rotor', async (tx) =>
    Array.from({ length: 20 }, (_, n) => decryptContent(tx, recordId, madeUp(n))),
  )
  expect(opened).toEqual(Array.from({ length: 20 }, (_, n) => madeUp(n)))
})
