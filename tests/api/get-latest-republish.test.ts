import { afterAll, beforeAll, expect, test } from 'vitest'
import { must, republishPath, startConnectorHub } from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { accessCases, slugOf } from './connector-cases.ts'

let hub: TestHub
const made: { job_id: string }[] = []
const path = () => republishPath
beforeAll(async () => {
  hub = await startConnectorHub()
  for (let at = 0; at < 2; at += 1) made.push((await must(hub, 'acme', 'POST', republishPath)).body)
})
afterAll(() => hub.stop())

test('answers the latest', async () => {
  const answer = await hub.call('acme', 'GET', path())
  expect([answer.status, answer.body]).toEqual([200, made[1]])
})

test('unknown parameters are 400', async () => {
  expect((await hub.call('acme', 'GET', `${path()}?colour=red`)).status).toBe(400)
})

test('where there is none is 404', async () => {
  const answer = await hub.call('globex', 'GET', path())
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: path() }),
  wrongScopes: ['hub:read'],
  otherTenant: 404,
})
