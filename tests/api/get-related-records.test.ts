import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  recordsPath,
  unknownId,
  write,
} from './record-cases.ts'

let hub: TestHub
/** a ← b ← c ← d ← e ← f, and b ← x. */
const chain: Record<string, string> = {}

beforeAll(async () => {
  hub = await startHub()
  const link = async (name: string, ...targets: string[]) => {
    const related_records = targets.map((target) => chain[target]!)
    chain[name] = await write(hub, 'acme', { ...decision, decision_id: name, related_records })
  }
  await link('a')
  await link('b', 'a')
  await link('c', 'b')
  await link('d', 'c')
  await link('e', 'd')
  await link('f', 'e')
  await link('x', 'b', 'a')
})
afterAll(() => hub.stop())

const related = (id: string, parameters = '', options = {}) =>
  hub.call('acme', 'GET', pathOf(id, `/related${parameters}`), options)

async function namesOf(root: string, parameters = '') {
  const { status, body, text } = await related(chain[root]!, parameters)
  expect(status, text).toBe(200)
  const name = (id: string) => Object.keys(chain).find((each) => chain[each] === id)
  expect(body.root).toBe(chain[root])
  return {
    records: body.records.map((record: { record_id: string }) => name(record.record_id)).join(''),
    edges: body.edges.map((edge: { from: string; to: string }) => `${name(edge.from)}${name(edge.to)}`).sort(),
    truncated: body.truncated,
  }
}

test.each([
  ['a', '', 'abx', ['ba', 'xa', 'xb']],
  ['b', '', 'bacx', ['ba', 'cb', 'xa', 'xb']],
  ['c', '?direction=out', 'cb', ['cb']],
  ['c', '?direction=in', 'cd', ['dc']],
  ['c', '?depth=2', 'cbdaex', ['ba', 'cb', 'dc', 'ed', 'xa', 'xb']],
  ['f', '?depth=5&direction=out', 'fedcba', ['ba', 'cb', 'dc', 'ed', 'fe']],
  ['f', '?depth=4&direction=out', 'fedcb', ['cb', 'dc', 'ed', 'fe']],
  ['a', '?depth=2&direction=out', 'a', []],
])('from %s%s', async (root, parameters, records, edges) => {
  expect(await namesOf(root, parameters)).toEqual({ records, edges, truncated: false })
})

test('records are whole', async () => {
  const { body } = await related(chain.c!, '?direction=out')
  for (const record of body.records) {
    expect(record).toEqual((await hub.call('acme', 'GET', pathOf(record.record_id))).body)
  }
})

test('purged records are left out and not walked through; a purged root is shown', async () => {
  const middle = await write(hub, 'acme', { ...decision, related_records: [await write(hub, 'acme', decision)] })
  const root = await write(hub, 'acme', { ...decision, related_records: [middle] })
  expect((await related(root, '?depth=2')).body.records).toHaveLength(3)
  await hub.call('acme', 'DELETE', pathOf(middle, '?reason=x'))
  const { body } = await related(root, '?depth=2')
  expect([body.records.length, body.edges, body.truncated]).toEqual([1, [], false])
  const purged = await related(middle)
  expect(purged.body.records.map((record: { is_purged: boolean }) => record.is_purged)).toEqual([true, false, false])
})

test('readers of some types walk only among those', async () => {
  const first = await write(hub, 'acme', governanceEvent)
  const between = await write(hub, 'acme', { ...decision, related_records: [first] })
  const second = await write(hub, 'acme', { ...governanceEvent, related_records: [between, first] })
  const scopes = ['governance:read']
  const { body } = await related(second, '?depth=3', { scopes })
  expect(body.records.map((record: { record_id: string }) => record.record_id)).toEqual([second, first])
  expect(body.edges).toEqual([{ from: second, to: first }])
  expectProblem(await related(between, '', { scopes }), 'not-found')
})

test('at most 1,000 records, and it says so', async () => {
  const root = await write(hub, 'acme', decision)
  const tenant = await hub.tenant('acme')
  const { sealer, writer } = hub.modules.recordStore.records
  const fields = { decision_id: 'x', decision_subject: 'x', decision_outcome: 'x', decision_rationale: 'x' }
  const drafts = Array.from({ length: 999 }, () => ({
    recordType: 'decision' as const,
    createdBy: 'test',
    fields,
    relatedRecords: [root],
  }))
  const batch = await sealer.seal(tenant, drafts)
  await hub.test.database.withTenant('acme', (tx) => writer.insert(tx, batch))
  const all = (await related(root)).body
  expect([all.records.length, all.edges.length, all.truncated]).toEqual([1000, 999, false])
  await write(hub, 'acme', { ...decision, related_records: [root] })
  const cut = (await related(root, '?depth=2')).body
  expect([cut.records.length, cut.truncated]).toEqual([1000, true])
})

test('bad input, unknown ids and other tenants', async () => {
  for (const depth of ['0', '6', '1.5', '1.0', '01', '+1', '1e0', 'x', '']) {
    expectProblem(await related(chain.a!, `?depth=${depth}`), 'validation-failed', '/query/depth')
  }
  expectProblem(await related(chain.a!, '?direction=up'), 'validation-failed', '/query/direction')
  expectProblem(await related('not-an-id'), 'validation-failed', '/path/record_id')
  expectProblem(await related(unknownId), 'not-found')
  const foreign = await hub.call('globex', 'POST', recordsPath, { body: decision })
  expectProblem(await related(foreign.body.record_id), 'not-found')
  expectProblem(await hub.call('globex', 'GET', pathOf(chain.a!, '/related')), 'not-found')
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'GET', pathOf(chain.a!, '/related'), { lacking: ['hub:write', 'hub:purge'] }))
