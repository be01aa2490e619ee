import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathOf } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { saveView, tokenOf, viewsPath } from '../api/view-cases.ts'
import { must } from '../api/webhook-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

let hub: TestHub
let token: string
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  token = await tokenOf(hub, 'analyst')
})
afterAll(() => hub.stop())

const ingest = async (user_id: string): Promise<string> =>
  (await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body: event({ user_id }) })).body.record_id

async function erase(id: string): Promise<void> {
  await must(hub, 'acme', 'DELETE', pathOf(id, '?reason=x'))
  const asOf = '2999-01-01T00:00:00.000000Z'
  expect(await hub.modules.hub.erasure.run(await hub.tenant('acme'), { asOf })).toEqual({ erased: 1, held: 0 })
}

async function queries(): Promise<string[]> {
  const { body } = await hub.call('acme', 'GET', `${viewsPath}?limit=1000`, { token })
  return body.items.map(({ query }: { query: string }) => query).sort()
}

test('with the last record of a user the views that name them go, private and shared, and no others', async () => {
  const kim = [await ingest('user:kim@example.com'), await ingest('user:kim@example.com')]
  await ingest('user:kim@example.co')
  const naming = ['user_id=user%3Akim%40example.com', 'skill_id=a&created_by=user:kim@example.com']
  const others = ['', 'user_id=user%3Akim%40example.co', 'skill_id=a']
  for (const query of naming) await saveView(hub, token, { query, shared: true })
  for (const query of others) await saveView(hub, token, { query })
  await erase(kim[0]!)
  expect(await queries()).toEqual([...naming, ...others].sort())
  await erase(kim[1]!)
  expect(await queries()).toEqual(others.sort())
})

test('a view that came to name them by a change goes too, and one that no longer does stays', async () => {
  const lee = await ingest('user:lee')
  const [came, left] = [await saveView(hub, token), await saveView(hub, token, { query: 'user_id=user:lee' })]
  const change = (id: string, query: string) =>
    must(hub, 'acme', 'PATCH', `${viewsPath}/${id}`, { token, body: { query } })
  await change(came.view_id, 'user_id=user:lee')
  await change(left.view_id, 'user_id=user:ann')
  await erase(lee)
  expect(await queries()).not.toContain('user_id=user:lee')
  expect(await queries()).toContain('user_id=user:ann')
})
