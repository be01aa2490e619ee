import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectorsPath, eventsOf, must, pushBody, startConnectorHub } from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { accessCases, slugOf } from './connector-cases.ts'

let hub: TestHub
let path: string
const body = pushBody('http://127.0.0.1:9/skills')
beforeAll(async () => {
  hub = await startConnectorHub()
})
afterAll(() => hub.stop())
beforeEach(async () => {
  path = `${connectorsPath}/${(await must(hub, 'acme', 'POST', connectorsPath, { body })).body.connector_id}`
})

test('forgets the credentials, is gone, answers the same again, and its name is free', async () => {
  const first = await hub.call('acme', 'DELETE', path)
  const connector_id = path.split('/').at(-1)
  expect([first.status, first.body]).toEqual([200, { connector_id, removed_at: expect.stringMatching(/Z$/) }])
  expect((await hub.call('acme', 'DELETE', path)).body).toEqual(first.body)
  for (const [method, rest, sent] of [
    ['GET', '', undefined],
    ['PATCH', '', { display_name: 'x' }],
    ['POST', ':test', undefined],
    ['POST', ':rotate-credentials', { credentials: {} }],
    ['POST', ':rotate-inbound-secret', undefined],
  ] as const) {
    expect((await hub.call('acme', method, `${path}${rest}`, { body: sent })).status).toBe(404)
  }
  const db = await hub.superuserClient()
  const { rows } = await db.query(
    `select credentials_sealed, (select count(*)::int from hub.connector_deliveries d
       where d.connector_id = c.connector_id) as deliveries from hub.connectors c where connector_id = $1`,
    [connector_id],
  )
  expect(rows).toEqual([{ credentials_sealed: null, deliveries: 0 }])
  const events = await eventsOf(hub, 'acme', 'tenant.config_changed')
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    subject: `connector:${connector_id}`,
    details: { change: 'connector_removed', before: { display_name: 'Lab' } },
  })
  const again = await must(hub, 'acme', 'POST', connectorsPath, { body })
  expect(again.body.connector_id).not.toBe(connector_id)
})

test('one that nobody has is 404', async () => {
  const answer = await hub.call('acme', 'DELETE', `${connectorsPath}/con_none`)
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
})

accessCases({ hub: () => hub, right: () => ({ method: 'DELETE', path }), wrongScopes: ['hub:purge'], otherTenant: 404 })
