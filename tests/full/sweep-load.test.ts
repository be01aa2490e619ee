import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseNote } from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { decisionDraft, purge, writeSealed } from '../hub/attack-scenes.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'

let hub: TestHub
let db: pg.Client
let time: FakeClock
const slugs: TestTenant[] = ['acme', 'globex']

beforeAll(async () => {
  time = fakeClock()
  hub = await startHub({ time, poolSize: 12 })
  db = await hub.superuserClient()
})
afterAll(() => hub.stop())

const times = async (count: number, work: (at: number) => Promise<void>) => {
  for (let at = 0; at < count; at++) await work(at)
}

/** What goes on in a tenant while it is swept. */
async function live(slug: TestTenant, tenant: Tenant, old: readonly string[]): Promise<void> {
  const { modules } = hub
  await Promise.all([
    times(10, async (at) => {
      const { sealer, writer } = modules.recordStore.records
      const drafts = Array.from({ length: 70 }, (_, i) => ({ createdBy: 'client-1', ...decisionDraft(`${at}.${i}`) }))
      await hub.test.database.ingest(slug, writer.copySteps(await sealer.seal(tenant, drafts)))
    }),
    times(8, async (at) => {
      const [id] = await writeSealed(hub, tenant, decisionDraft(`purged ${at}`))
      await purge(hub, slug, id!)
      const path = `/api/v1/hub/records/${id}:restore`
      if (at % 2 === 0) expect((await hub.call(slug, 'POST', path)).status).toBe(200)
    }),
    times(2, async () => void (await modules.hub.erasure.run(tenant))),
    times(10, async () => void (await modules.log.logs.integrate(tenant))),
    times(1, async () => void (await modules.provenanceKeyRotation.rotate(tenant, { operator: 'test' }))),
    times(old.length, async (at) => {
      const { status } = await hub.call(slug, 'POST', `/api/v1/hub/records/${old[at]}:restore`)
      expect([200, 404, 409]).toContain(status)
    }),
  ])
}

test('there is no false alarm while records come, are purged, restored and erased, and keys rotate', async () => {
  const tenants = await Promise.all(slugs.map((slug) => hub.tenant(slug)))
  const old = new Map<TestTenant, string[]>()
  for (const [at, slug] of slugs.entries()) {
    const ids = await writeSealed(hub, tenants[at]!, ...Array.from({ length: 40 }, (_, i) => decisionDraft(`old ${i}`)))
    for (const id of ids.slice(0, 20)) await purge(hub, slug, id)
    old.set(slug, ids.slice(20))
  }
  time.step({ days: 31 })
  let passes = 0
  const lives = slugs.map(async (slug, at) => {
    do await live(slug, tenants[at]!, old.get(slug)!)
    while (passes < 4)
  })
  hub.modules.hub.sweeper.start()
  for (; passes < 4; passes++) {
    for (const tenant of tenants) {
      expect(await hub.modules.hub.sweeper.sweep(tenant)).toMatchObject({ failed: 0, inconsistent: 0 })
    }
  }
  await Promise.all(lives)
  await hub.modules.hub.sweeper.stop()
  for (const tenant of tenants) {
    const { rows } = await db.query(`select count(*)::integer as count from hub.records where tenant_id = $1`, [
      tenant.slug,
    ])
    const checked = rows[0].count
    // Of a rotated key.
    const { checkpoint } = await hub.modules.log.logs.integrate(tenant)
    const { keyIdBytes } = await hub.modules.keys.provenance.signerOf(tenant.slug)
    expect(Buffer.from(parseNote(checkpoint).signatures[0]!.keyHash)).toEqual(Buffer.from(keyIdBytes.subarray(0, 4)))
    expect(await hub.modules.hub.sweeper.sweep(tenant)).toEqual({ checked, failed: 0, inconsistent: 0 })
  }
  const erased = await db.query('select from hub.tombstones')
  const reports = await db.query(`select from hub.records where event_kind = 'hub.tamper_detected'`)
  expect([erased.rowCount, reports.rowCount]).toEqual([40, 0])
})
