import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSecondHub } from '../auth/second-hub.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type KeyService, startVault } from './key-services.ts'
import { type ModeB, modeB, provisionPath } from './mode-b-lab.ts'

const records = '/api/v1/hub/records'
let vault: KeyService
let hub: TestHub
let b: ModeB

beforeAll(async () => {
  vault = await startVault('a-token', ['transit/one', 'transit/two'])
  hub = await startHub({
    settings: { HUB_VAULT_ADDR: vault.url, HUB_VAULT_TOKEN: 'a-token', HUB_VAULT_KEYS: 'away=*' },
  })
  b = await modeB(hub, 'away')
})
afterAll(async () => {
  await hub.stop()
  await vault.close()
})

test('a key that cannot be used is refused where it is named, and one that is away asks to try again', async () => {
  const wrong = await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'three' } })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/cmek/key_ref'])
  vault.fails = 503
  const away = await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'one' } })
  expect([away.status, away.body.type]).toEqual([503, `${hub.baseUrl}/errors/hub-unavailable`])
  expect(Number(away.headers['retry-after'])).toBeGreaterThan(0)
  vault.fails = undefined
  expect(await b.events('cmek.key_created')).toEqual([])
})

test('while the key is away nothing is opened or written, nothing is called tampered, and then all is well', async () => {
  const made = await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'one' } })
  expect(made.body.cmek).toMatchObject({ provider: 'vault', key_ref: 'one', content_keys: 1 })
  const { record_id } = (await b.call('POST', records, { record_type: 'artifact', title: 'Xylophone' })).body
  const tenant = (await hub.modules.tenants.directory.read('away'))!
  // Another process has nothing in memory.
  const second = await startSecondHub(hub, { settings: { vault: { address: vault.url, token: 'a-token' } as never } })
  try {
    vault.fails = 503
    await expect(second.modules.hub.sweeper.sweep(tenant)).rejects.toMatchObject({ slug: 'hub-unavailable' })
    const asked = vault.requests.length
    const opened = () =>
      second.database.withTenant('away', async (tx) => {
        const { rows } = await tx.client.query<{ canonical: string }>(
          'select canonical from hub.records where tenant_id = $1 and record_id = $2',
          ['away', record_id],
        )
        return tx.contents.decrypt('away', record_id, rows[0]!.canonical)
      })
    // Those who fail at once do not each ask.
    const failed = await Promise.allSettled(Array.from({ length: 20 }, opened))
    expect(failed.map((one) => one.status === 'rejected' && one.reason.retryAfterSeconds)).toEqual(Array(20).fill(5))
    expect(vault.requests.length - asked).toBeLessThanOrEqual(1)
    vault.fails = undefined
    await expect.poll(opened).toContain('Xylophone')
    expect(await second.modules.hub.sweeper.sweep(tenant)).toMatchObject({ failed: 0, inconsistent: 0 })
  } finally {
    await second.stop()
  }
  expect(await b.events('hub.tamper_detected')).toEqual([])
})

test('another key of the customer wraps the content keys anew, and what was written opens', async () => {
  const changed = await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'two' } })
  expect(changed.body.cmek).toMatchObject({ key_ref: 'two', content_keys: 1 })
  const events = await b.events('tenant.config_changed')
  expect(events.at(-1)).toMatchObject({
    details: {
      change: 'cmek',
      before: { provider: 'vault', key_ref: 'one' },
      after: { provider: 'vault', key_ref: 'two' },
    },
  })
  const again = await b.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref: 'two' } })
  expect(again.body).toEqual(changed.body)
  expect(await b.events('tenant.config_changed')).toHaveLength(events.length)
  const page = await b.call('GET', `${records}?record_type=artifact&verify=true`)
  expect(page.body.records).toMatchObject([{ title: 'Xylophone', verification: { verified: true } }])
})
