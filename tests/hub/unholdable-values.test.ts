import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { decisionDraft, purge, writeSealed } from './attack-scenes.ts'

/** Columns can hold values that JavaScript cannot. Only somebody who edits the database puts them there. */
const noTime = [`'infinity'`, `'-infinity'`, `'0044-03-15 BC'`, `'294000-01-01Z'`]

let hub: TestHub
let db: pg.Client
let time: FakeClock
let acme: Tenant

beforeAll(async () => {
  time = fakeClock()
  hub = await startHub({ time })
  db = await hub.superuserClient()
  acme = await hub.tenant('acme')
})
afterAll(() => hub.stop())

const records = '/api/v1/hub/records'
const call = (path: string, method = 'GET', body?: object) => hub.call('acme', method, path, body ? { body } : {})

async function written(): Promise<string> {
  const [id] = await writeSealed(hub, acme, decisionDraft('one'), decisionDraft('beside it'))
  return id!
}

async function purged(): Promise<string> {
  const id = await written()
  await purge(hub, 'acme', id)
  return id
}

/** With one edit, which is undone afterwards: each is looked at by itself. */
async function edited(table: string, where: string, assignment: string, look: () => Promise<void>): Promise<void> {
  const { rows } = await db.query(`select to_jsonb(t)::text as row from ${table} t where ${where}`)
  expect(rows, where).toHaveLength(1)
  const updated = await db.query(`update ${table} set ${assignment} where ${where} returning ctid`)
  try {
    await look()
  } finally {
    // Its key may be another one now.
    const deleted = await db.query(`delete from ${table} where ctid = $1`, [updated.rows[0].ctid])
    expect(deleted.rowCount).toBe(1)
    await db.query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [rows[0].row])
  }
}

const sweep = async () => {
  const { failed, inconsistent } = await hub.modules.hub.sweeper.sweep(acme)
  return failed + inconsistent
}

describe('the state of a record', () => {
  const assignments = [
    ...noTime.flatMap((value) => [`purged_at = ${value}`, `hard_delete_after = ${value}`]),
    'buffer_left_micros = 9223372036854775807, revision = revision + 1',
  ]

  test.each(assignments)('%s', async (assignment) => {
    const id = await purged()
    await edited('hub.record_states', `record_id = '${id}'`, assignment, async () => {
      // Where its recovery period is over, it is not to be seen.
      const isGone = /hard_delete_after = '(-|0044)/.test(assignment)
      expect((await call(`${records}/${id}`)).status).toBe(isGone ? 404 : 200)
      const verified = await call(`${records}/${id}/verify`, 'POST', {})
      expect(verified.status).toBe(isGone ? 404 : 200)
      if (!isGone) {
        expect(verified.body).toMatchObject({ verified: false, checks: { provenance_hash_matches: false } })
        expect((await call(`${records}/${id}?verify=true`)).body.verification.verified).toBe(false)
      }
      expect((await call(`${records}?include_purged=true&limit=1000`)).status).toBe(200)
      const page = await call(`${records}?include_purged=true&verify=true&limit=1000`)
      expect(page.body.verification_summary.tampered).toBe(isGone ? 0 : 1)
      expect(await sweep()).toBe(1)
    })
    expect(await sweep()).toBe(0)
  })
})

describe('what is left of an erased record', () => {
  test.each(noTime)('%s', async (value) => {
    const id = await purged()
    time.step({ days: 31 })
    await hub.modules.hub.erasure.run(acme)
    for (const column of ['purged_at', 'erased_at']) {
      await edited('hub.tombstones', `record_id = '${id}'`, `${column} = ${value}`, async () => {
        const { status, body } = await call(`${records}/${id}/deletion-certificate`)
        expect(status).toBe(200)
        expect(body[column]).toMatch(/^(9999-12-31|0001-01-01)T/)
        expect(await sweep()).toBe(1)
      })
    }
    expect(await sweep()).toBe(0)
  })
})

describe('holds and releases', () => {
  test.each(noTime)('%s', async (value) => {
    const id = await written()
    const holds = '/api/v1/hub/legal-holds'
    const { body: hold } = await call(holds, 'POST', { name: 'one', reason: 'a case', record_ids: [id] })
    await call(`${holds}/${hold.hold_id}:release`, 'POST', { reason: 'it is over' })
    await purge(hub, 'acme', id)
    for (const column of ['created_at', 'released_at']) {
      await edited('hub.legal_holds', `hold_id = '${hold.hold_id}'`, `${column} = ${value}`, async () => {
        for (const path of [holds, `${holds}/${hold.hold_id}`, `${records}/${id}`, `${records}/${id}?verify=true`]) {
          expect((await call(path)).status, path).toBe(200)
        }
        await sweep()
      })
    }
    const page = await call(`${records}?event_kind=hub.legal_hold_released&limit=1`)
    const releases = `${records}/${page.body.records[0].record_id}/legal-hold-releases`
    const { body: release } = await call(releases, 'POST', { reason: 'it may go' })
    for (const column of ['created_at', 'expires_at']) {
      const where = `release_id = '${release.release_id}'`
      await edited('hub.legal_hold_releases', where, `${column} = ${value}`, async () => {
        expect((await call(releases)).status).toBe(200)
        await sweep()
      })
    }
  })
})

describe('the log', () => {
  test.each([
    ['hub.log_heads', `tenant_id = 'acme'`, `signed_at = 'infinity'`, 0],
    ['hub.log_heads', `tenant_id = 'acme'`, 'tree_size = 9223372036854775807', undefined],
    ['hub.log_heads', `tenant_id = 'acme'`, 'tree_size = 1000000000000', undefined],
    ['hub.log_entries', `tenant_id = 'acme' and log_index = 0`, 'log_index = 9223372036854775807', undefined],
    ['hub.log_entries', `tenant_id = 'acme' and log_index = 1`, 'log_index = 1000000000000', undefined],
    ['hub.log_tiles', `tenant_id = 'acme' and level = 0`, 'tile_index = 9223372036854775807', undefined],
  ])('%s: %s, %s', async (table, where, assignment, count) => {
    const id = await written()
    await hub.modules.log.logs.integrate(acme)
    await edited(table, where, assignment, async () => {
      for (const path of [`${records}/${id}?verify=true`, `${records}?verify=true&limit=1000`]) {
        expect((await call(path)).status).toBe(200)
      }
      const found = await sweep()
      if (count === undefined) expect(found).toBeGreaterThan(0)
      else expect(found).toBe(count)
    })
    expect(await sweep()).toBe(0)
  })
})
