import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  allStrangersRefused,
  type OperatorLab,
  problemOf,
  startOperatorLab,
  strangersAnswers,
  tenantsPath,
} from '../tenants/operator-lab.ts'

let lab: OperatorLab
beforeAll(async () => {
  lab = await startOperatorLab()
})
afterAll(() => lab.hub.stop())

const list = (query = '') => lab.call('GET', `${tenantsPath}${query}`)

test('all tenants, by slug and a page at a time', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  expect(body.next_cursor).toBeNull()
  expect(body.items).toEqual(
    [
      ['acme', 'A'],
      ['cmode', 'C'],
      ['globex', 'A'],
    ].map(([tenant, mode]) => ({
      tenant,
      mode,
      base_url: lab.hub.baseUrl,
      created_at: expect.stringMatching(/\.\d{6}Z$/),
      suspended: false,
    })),
  )
  const first = (await list('?limit=2')).body
  const second = (await list(`?limit=2&cursor=${first.next_cursor}`)).body
  expect([...first.items, ...second.items]).toEqual(body.items)
  expect(second.next_cursor).toBeNull()
})

test('a cursor of somebody else is refused, and so is what a list does not take', async () => {
  const other = (await lab.hub.call('acme', 'GET', '/api/v1/service-accounts?limit=1')).body.next_cursor
  expect(problemOf(await list(`?cursor=${other ?? 'made-up'}`))).toEqual([400, 'invalid-cursor'])
  for (const query of ['?limit=0', '?limit=1001', '?mode=A']) {
    expect(problemOf(await list(query))).toEqual([400, 'validation-failed'])
  }
})

test('nobody but the operator sees them', async () => {
  expect(await strangersAnswers(lab, 'GET', tenantsPath)).toEqual(allStrangersRefused)
})
