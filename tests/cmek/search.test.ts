import { afterAll, beforeAll, expect, test } from 'vitest'
import { decision } from '../api/record-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type ModeB, modeB } from './mode-b-lab.ts'

let hub: TestHub
let vault: ModeB

beforeAll(async () => {
  hub = await startHub()
  vault = await modeB(hub, 'vault')
  await vault.ready()
  for (const body of [
    { record_type: 'output', skill_id: 'sum', title: 'Okapi', content: 'okapi' },
    { ...decision, decision_subject: 'Okapi', decision_rationale: 'okapi' },
  ]) {
    expect((await vault.call('POST', '/api/v1/hub/records', body)).status).toBe(201)
  }
})
afterAll(() => hub.stop())

const search = async (q: string) => (await vault.call('GET', `/api/v1/hub/search?q=${q}`)).body

test('in Mode B only members in clear are searched, and the response says so', async () => {
  expect(await search('okapi')).toEqual({
    ...{ results: [], next_cursor: null },
    partial: 'content is encrypted',
  })
  const { results } = await search('sum')
  expect(results.map((one: { record: { record_type: string } }) => one.record.record_type).sort()).toEqual([
    'output',
    'skill_definition',
  ])
  for (const { snippet } of results) expect(snippet).toMatch(/^‹sum›( |$)/)
  expect((await search('nightingale')).results).toEqual([])
  expect((await search('cmek.key_created')).results.length).toBe(1)
  expect((await vault.call('GET', '/api/v1/suggest?q=okapi')).body.items).toEqual([])
})

test('the index holds no word of encrypted content, also when it is built again', async () => {
  const client = await hub.superuserClient()
  const words = async () => {
    const { rows } = await client.query(`select string_agg(words::text, ' ') as all from hub.search_documents`)
    return rows[0].all as string
  }
  expect(await words()).not.toContain('okapi')
  await client.query('delete from hub.search_documents')
  while (await hub.modules.hub.searchIndexer.index('vault'));
  expect(await words()).not.toContain('okapi')
  expect(await words()).not.toContain('nightingal')
  expect(await words()).toContain('sum')
})
