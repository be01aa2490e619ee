import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectorsPath, must, pushBody, startConnectorHub } from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { accessCases, slugOf } from './connector-cases.ts'

let hub: TestHub
let path: string
beforeAll(async () => {
  hub = await startConnectorHub()
  const { body } = await must(hub, 'acme', 'POST', connectorsPath, { body: pushBody('http://127.0.0.1:9/') })
  path = `${connectorsPath}/${body.connector_id}`
})
afterAll(() => hub.stop())

test('answers it with its health, and the names of its credentials', async () => {
  const { status, body, text } = await hub.call('acme', 'GET', path)
  expect([status, body]).toMatchObject([
    200,
    { platform: 'custom:lab', credentials: ['bearer_token'], health: { status: 'waiting', failures: 0 } },
  ])
  expect(text).not.toContain('a-secret-of-the-lab')
})

test('one that nobody has is 404', async () => {
  const answer = await hub.call('acme', 'GET', `${connectorsPath}/con_none`)
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
})

accessCases({ hub: () => hub, right: () => ({ method: 'GET', path }), wrongScopes: ['hub:read'], otherTenant: 404 })
