import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { checkpointOf, follow, get, logPath, noReader } from './log-cases.ts'
import { decision, expectGuarded, expectProblem, governanceEvent, pathOf, query, read, write } from './record-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
})
afterAll(() => hub.stop())

const path = (parameters: string) => `${logPath}/entries${parameters}`
const idsOf = (items: { record_id: string }[]) => items.map((item) => item.record_id)

async function writeBatch(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => event())
  const { body } = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  return idsOf(body.records)
}

describe('the feed', () => {
  test('has every record once, as the API answers it, in the order of the log', async () => {
    await writeBatch(150)
    await write(hub, 'acme', decision)
    const { records } = await query(hub, 'acme', '?limit=1000')
    const { items, lastPosition } = await follow(hub)
    expect(idsOf(items).sort()).toEqual(idsOf(records).sort())
    const answered = new Map(records.map((record: { record_id: string }) => [record.record_id, record]))
    for (const item of items) {
      expect(item.record).toEqual(answered.get(item.record_id))
      expect(item.position).toBe(item.log_index * 64 + item.leaf_index + 1)
      expect(item).not.toHaveProperty('erased')
    }
    const positions = items.map((item) => item.position)
    expect(positions).toEqual([...positions].sort((a, b) => a - b))
    expect(new Set(positions).size).toBe(positions.length)
    expect(lastPosition).toBe((await checkpointOf(hub)).tree_size * 64)
  })

  test('gives the same in pages of any size, and by cursors', async () => {
    const whole = await follow(hub)
    for (const limit of [1, 7, 64, 100]) expect(await follow(hub, 0, limit)).toEqual(whole)
    const items = []
    let page = await get(hub, path('?limit=60'))
    for (;;) {
      items.push(...page.items)
      if (page.next_cursor === null) break
      page = await get(hub, path(`?limit=60&cursor=${page.next_cursor}`))
    }
    expect(items).toEqual(whole.items)
  })

  test('goes on behind the last position seen, in the middle of a seal too', async () => {
    const { lastPosition } = await follow(hub)
    expect(await get(hub, path(`?after=${lastPosition}`))).toEqual({
      items: [],
      next_cursor: null,
      last_position: lastPosition,
    })
    const batch = await writeBatch(3)
    const { items } = await follow(hub, lastPosition)
    expect(idsOf(items)).toEqual(batch)
    const { items: rest } = await get(hub, path(`?after=${items[0].position}`))
    expect(idsOf(rest)).toEqual(batch.slice(1))
  })

  test('goes on behind a record, a cursor, and from the beginning where `after` is empty', async () => {
    const { items, lastPosition } = await follow(hub)
    for (const at of [0, 70, items.length - 1]) {
      const { record_id: id } = items[at]
      for (const name of [id, id.toUpperCase()]) {
        expect((await get(hub, path(`?after=${name}&limit=1000`))).items).toEqual(items.slice(at + 1))
      }
    }
    const { next_cursor: cursor, ...first } = await get(hub, path('?after=&limit=60'))
    expect(first.items).toEqual(items.slice(0, 60))
    expect(cursor).not.toBeNull()
    const second = await get(hub, path(`?after=${cursor}&limit=1000`))
    expect(second).toEqual({ items: items.slice(60), next_cursor: null, last_position: lastPosition })
    for (const beside of [0, lastPosition, 'nonsense', items[3].record_id]) {
      expect(await get(hub, path(`?after=${beside}&cursor=${cursor}&limit=1000`))).toEqual(second)
    }
  })

  test('shows purged records as purged, and erased ones by their place alone', async () => {
    const { lastPosition } = await follow(hub)
    const [purged, gone, erased] = [
      await write(hub, 'acme', decision),
      await write(hub, 'acme', decision),
      await write(hub, 'acme', decision),
    ]
    for (const id of [purged, gone, erased]) {
      expect((await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))).status).toBe(200)
    }
    const { items: before } = await follow(hub, lastPosition)
    const superuser = await hub.superuserClient()
    await superuser.query('update hub.record_states set hard_delete_after = now() where record_id = $1', [gone])
    await superuser.query(
      `insert into hub.tombstones (tenant_id, record_id, record_type, seal_id, leaf_index, purged_at, purged_by, purge_reason, event_id, erased_at)
       select tenant_id, record_id, record_type, seal_id, leaf_index, now(), 'x', 'x', record_id, now()
       from hub.records where record_id = $1`,
      [erased],
    )
    await superuser.query('delete from hub.records where record_id = $1', [erased])
    const { items } = await follow(hub, lastPosition)
    expect(idsOf(items)).toEqual(idsOf(before))
    expect(items[0].record).toEqual(await read(hub, 'acme', purged))
    expect(items[0].record.is_purged).toBe(true)
    for (const [i, id] of [gone, erased].entries()) {
      const { record: _record, ...place } = before[i + 1]
      expect(items[i + 1]).toEqual({ ...place, record_id: id, erased: true })
    }
    expect((await get(hub, path(`?after=${gone}`))).items).toEqual(items.slice(2))
    expect((await get(hub, path(`?after=${erased}`))).items).toEqual(items.slice(3))
    const asReader = await follow(hub, lastPosition, 1000, { scopes: ['telemetry:read'] })
    expect(asReader.items).toEqual([])
  })

  test('leaves out types that the scopes hide, and goes on where all are hidden', async () => {
    const { lastPosition } = await follow(hub)
    for (let i = 0; i < 12; i++) await write(hub, 'acme', decision)
    const seen = await write(hub, 'acme', governanceEvent)
    const options = { scopes: ['governance:read'] as const }
    const { items, lastPosition: end } = await follow(hub, lastPosition, 1, options)
    expect(idsOf(items)).toContain(seen)
    expect(items.every((item) => item.record.record_type === 'governance_event')).toBe(true)
    const telemetry = await follow(hub, lastPosition, 1000, { scopes: ['telemetry:read'] })
    // Nothing for this reader, who need not look at it again all the same.
    expect(telemetry).toEqual({ items: [], lastPosition: end })
  })

  test('ends a page early where its records are large', async () => {
    const { lastPosition } = await follow(hub)
    const large = { record_type: 'artifact', title: 'large', content: 'x'.repeat(1_000_000) }
    const ids = []
    for (let i = 0; i < 18; i++) ids.push(await write(hub, 'acme', large))
    const page = await get(hub, path(`?after=${lastPosition}&limit=1000`))
    expect(page.items).toHaveLength(16)
    const next = await get(hub, path(`?cursor=${page.next_cursor}&limit=1000`))
    expect(idsOf([...page.items, ...next.items])).toEqual(ids)
  })
})

describe('it refuses', () => {
  const refused = async (parameters: string, ...pointers: string[]) =>
    expectProblem(await hub.call('acme', 'GET', path(parameters)), 'validation-failed', ...pointers)

  test('positions that are none, and pages that are too large', async () => {
    await refused('?after=-1', '/query/after')
    await refused('?after=1.5', '/query/after')
    await refused('?after=01', '/query/after')
    await refused('?after=x', '/query/after')
    await refused('?after=9007199254740992', '/query/after')
    await refused('?after=123456789012345678901234567890', '/query/after')
    await refused('?limit=0', '/query/limit')
    await refused('?limit=1001', '/query/limit')
    await refused('?since=1', '/query/since')
  })

  test('a position beyond the end, which would lose what comes until then', async () => {
    const end = (await checkpointOf(hub)).tree_size * 64
    await refused(`?after=${end + 1}`, '/query/after')
    expect((await get(hub, path(`?after=${end}`))).items).toEqual([])
  })

  test('a record that is not there, of another tenant, or of a type that the scopes hide', async () => {
    await refused('?after=019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a', '/query/after')
    const id = await write(hub, 'acme', decision)
    const elsewhere = await hub.call('globex', 'GET', path(`?after=${id}`))
    expectProblem(elsewhere, 'validation-failed', '/query/after')
    const hidden = await hub.call('acme', 'GET', path(`?after=${id}`), { scopes: ['telemetry:read'] })
    expectProblem(hidden, 'validation-failed', '/query/after')
    expect((await get(hub, path(`?after=${id}`))).items).toEqual([])
  })

  test('a changed cursor, and one of another tenant', async () => {
    const { next_cursor: cursor } = await get(hub, path('?limit=1'))
    await refused(`?after=A${cursor}`, '/query/after')
    expectProblem(await hub.call('globex', 'GET', path(`?after=${cursor}`)), 'validation-failed', '/query/after')
    for (const wrong of [`A${cursor}`, 'nonsense']) {
      expectProblem(await hub.call('acme', 'GET', path(`?cursor=${wrong}`)), 'invalid-cursor', '/query/cursor')
    }
    expectProblem(await hub.call('globex', 'GET', path(`?cursor=${cursor}`)), 'invalid-cursor', '/query/cursor')
  })

  test('callers without token, tenant or scope', async () => {
    await expectGuarded(hub, 'GET', path(''), { lacking: noReader })
  })

  test('the other tenant gets its own alone', async () => {
    const ids = new Set(idsOf((await follow(hub)).items))
    const { items } = await get(hub, path('?limit=1000'), {}, 'globex')
    expect(items.length).toBeGreaterThan(0)
    for (const item of items) {
      expect(ids.has(item.record_id)).toBe(false)
      expect(item.record.tenant_id).toBe('globex')
    }
  })
})
