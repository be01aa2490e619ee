import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import { startSecondHub } from '../auth/second-hub.ts'
import { type ModeB, modeB, provisionPath } from '../cmek/mode-b-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const records = '/api/v1/hub/records'
const destroyPath = '/api/v1/hub/cmek:destroy'
/** Within which all processes forget a key that is destroyed. */
const promisedMs = 5_000
let hub: TestHub
let b: ModeB
let gone: string
let after: string

beforeAll(async () => {
  hub = await startHub()
  b = await modeB(hub, 'ending')
  await b.ready()
  gone = (await b.call('POST', records, { record_type: 'artifact', title: 'Xylophone' })).body.record_id
})
afterAll(() => hub.stop())

const destroy = () => b.call('POST', destroyPath, { confirm: 'ending', reason: 'The contract is over.' })
const tenant = async () => (await hub.modules.tenants.directory.read('ending'))!

async function audit() {
  return createLogAudit({
    database: hub.test.database,
    logs: hub.modules.log.logs,
    keys: hub.modules.keys.provenance,
  }).audit(await tenant(), [])
}

test('a legal hold and a minimum retention stand against it', async () => {
  const hold = await b.call('POST', '/api/v1/hub/legal-holds', { name: 'x', reason: 'x', record_ids: [gone] })
  const refused = await destroy()
  expect([refused.status, refused.body.type]).toEqual([422, `${hub.baseUrl}/errors/legal-hold`])
  expect(refused.body.holds).toEqual([{ hold_id: hold.body.hold_id, name: 'x' }])
  await b.call('POST', `/api/v1/hub/legal-holds/${hold.body.hold_id}:release`, { reason: 'over' })
  const rules = '/api/v1/hub/retention-rules'
  await b.call('PUT', rules, { rules: [{ record_type: 'artifact', min_days: 1 }] })
  expect((await destroy()).body.type).toBe(`${hub.baseUrl}/errors/retention`)
  await b.call('PUT', rules, { rules: [] })
  expect((await b.call('GET', `${records}/${gone}`)).status).toBe(200)
})

test('after it the content is gone everywhere, within seconds in another process, and the proofs stay', async () => {
  // The keyring is shared by all processes of a service.
  const second = await startSecondHub(hub, { settings: { keyringDir: join(hub.dataDir, 'keyring') } })
  try {
    const readElsewhere = () =>
      second.database.withTenant('ending', async (tx) => {
        const { rows } = await tx.client.query<{ canonical: string }>(
          'select canonical from hub.records where tenant_id = $1 and record_id = $2',
          ['ending', gone],
        )
        return tx.contents.decrypt('ending', gone, rows[0]!.canonical)
      })
    expect(await readElsewhere()).toContain('Xylophone')
    const destroyed = await destroy()
    expect(destroyed.status, destroyed.text).toBe(200)
    await expect.poll(readElsewhere, { timeout: scaled(promisedMs) }).not.toContain('Xylophone')
    expect((await destroy()).body).toEqual(destroyed.body)
  } finally {
    await second.stop()
  }
  expect(await b.events('cmek.key_destroyed')).toMatchObject([
    { subject: 'tenant:ending', details: { reason: 'The contract is over.', provider: 'local', key_ref: 'k1' } },
  ])
  expect(await readdir(join(hub.dataDir, 'keyring'))).not.toContain('ending')

  const answer = await b.call('GET', `${records}/${gone}`)
  expect([answer.status, answer.body.content]).toEqual([200, 'unavailable'])
  expect((await b.call('POST', `${records}/${gone}/verify`)).body).toMatchObject({ verified: true })
  const page = await b.call('GET', `${records}?record_type=artifact`)
  expect(page.body.records).toMatchObject([{ record_id: gone, content: 'unavailable' }])
  expect(answer.text + page.text).not.toContain('Xylophone')
  const proof = await b.call('GET', `${records}/${gone}/proof`)
  expect(proof.status, proof.text).toBe(200)
  const feed = await b.call('GET', '/api/v1/hub/log/entries?limit=1000')
  expect(feed.body.items.find((item: { record_id: string }) => item.record_id === gone)).toMatchObject({ erased: true })
  expect(feed.text).not.toContain('Xylophone')
  expect((await b.call('GET', '/api/v1/skill-entitlement/skills')).text).not.toContain('Nightingale')
  expect(await hub.modules.hub.sweeper.sweep(await tenant())).toMatchObject({ failed: 0, inconsistent: 0 })
  expect(await audit()).toMatchObject({ verified: true, failed: 0, erased: 2 })
})

test('nothing can be written then, until another key is provisioned; what was gone stays so', async () => {
  const refused = await b.call('POST', records, { record_type: 'artifact', title: 'y' })
  expect([refused.status, refused.body.type]).toEqual([422, `${hub.baseUrl}/errors/hub-not-provisioned`])
  expect((await b.call('GET', provisionPath)).body).toMatchObject({ provisioned: false })
  const again = await b.call('POST', provisionPath, { cmek: { provider: 'local', key_ref: 'k1' } })
  expect(again.body).toMatchObject({ provisioned: true, cmek: { content_keys: 1 } })
  const written = await b.call('POST', records, { record_type: 'artifact', title: 'Yodel', related_records: [gone] })
  expect(written.status, written.text).toBe(201)
  after = written.body.record_id
  const page = await b.call('GET', `${records}?record_type=artifact&verify=true`)
  expect(page.body.records).toMatchObject([
    { record_id: gone, content: 'unavailable', verification: { verified: true } },
    { record_id: after, title: 'Yodel', verification: { verified: true } },
  ])
  const related = await b.call('GET', `${records}/${after}/related`)
  expect(related.body).toMatchObject({
    records: [{ record_id: after }, { record_id: gone, content: 'unavailable' }],
    edges: [{ from: after, to: gone }],
    truncated: false,
  })
})

test('an export leaves out what is gone', async () => {
  const { body: order } = await b.call('POST', `${records}:export`, { format: 'jsonl', verify: true })
  let job = await b.call('GET', `/api/v1/hub/exports/${order.job_id}`)
  while (['queued', 'running'].includes(job.body.status)) {
    await delay(50)
    job = await b.call('GET', `/api/v1/hub/exports/${order.job_id}`)
  }
  expect(job.body, job.text).toMatchObject({ status: 'completed', verification_summary: { tampered: 0 } })
  const text = await (await fetch(job.body.download_url)).text()
  expect(text).toContain('Yodel')
  expect(text).not.toContain(gone.concat('","record_type":"artifact"'))
  expect(text).not.toContain('omhe1.')
})

test('content that is gone without an event that tells of it is found by sweeper and audit', async () => {
  const client = await hub.superuserClient()
  await client.query("update hub.content_keys set event_id = null where tenant_id = 'ending' and state = 'destroyed'")
  // What a process knows of keys may be as old.
  await delay(4_600)
  expect((await hub.modules.hub.sweeper.sweep(await tenant())).failed).toBe(2)
  expect(await audit()).toMatchObject({ verified: false, failed: 2 })
})
