import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectorsPath, eventsOf, must } from '../connectors/connector-lab.ts'
import { addPlatform, type Connection, invoked, send } from '../inbound/inbound-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

let hub: TestHub
let first: Connection
let path: string
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  first = await addPlatform(hub)
  path = `${connectorsPath}/${first.connectionId}:rotate-inbound-secret`
})
afterAll(() => hub.stop())

const rotate = () => hub.call('acme', 'POST', path)
const isTaken = async (secret: string) => (await send(hub, { ...first, secret }, invoked())).status === 200
const db = () => hub.superuserClient()

test('a new secret; the one before stays good for a day, the one before that ends', async () => {
  const second = await rotate()
  expect([second.status, second.body]).toEqual([
    200,
    {
      connection_id: first.connectionId,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/),
      former_secret_until: expect.stringMatching(/\.\d{6}Z$/),
    },
  ])
  const hoursLeft = (Date.parse(second.body.former_secret_until) - Date.now()) / 3_600_000
  expect(hoursLeft).toBeGreaterThan(23.9)
  expect(hoursLeft).toBeLessThanOrEqual(24)
  expect([await isTaken(first.secret), await isTaken(second.body.secret)]).toEqual([true, true])
  const third = await rotate()
  expect([await isTaken(first.secret), await isTaken(second.body.secret), await isTaken(third.body.secret)]).toEqual([
    false,
    true,
    true,
  ])
  await (await db()).query(`update hub.inbound_secrets set former_secret_until = now() - interval '1 second'`)
  expect([await isTaken(second.body.secret), await isTaken(third.body.secret)]).toEqual([false, true])
  const events = await eventsOf(hub, 'acme', 'tenant.config_changed')
  expect(events).toHaveLength(2)
  expect(events[0]).toMatchObject({
    subject: `connector:${first.connectionId}`,
    details: {
      change: 'connector_inbound_secret_rotated',
      after: { former_secret_until: second.body.former_secret_until },
    },
  })
  expect(JSON.stringify([events, hub.logLines])).not.toMatch(/whsec_/)
  const shown = await must(hub, 'acme', 'GET', `${connectorsPath}/${first.connectionId}`)
  expect(shown.body.inbound).toEqual({ connection_id: first.connectionId })
})

test('is sealed where it is kept, for this connector alone', async () => {
  const { secret } = (await rotate()).body
  const { rows } = await (await db()).query('select secret_sealed, former_secret_sealed from hub.inbound_secrets')
  for (const row of rows) expect(row.secret_sealed.toString('latin1')).not.toContain(secret)
  const other = await addPlatform(hub)
  await (await db()).query(
    `update hub.inbound_secrets set secret_sealed = (select secret_sealed from hub.inbound_secrets where connection_id = $1)
     where connection_id = $2`,
    [other.connectionId, first.connectionId],
  )
  const answer = await send(hub, { ...first, secret: other.secret }, invoked())
  expect([answer.status, slugOf(answer)]).toEqual([500, 'internal'])
})

test('a connector of before there were secrets gets its first', async () => {
  const old = await addPlatform(hub)
  for (const table of ['hub.inbound_secrets', 'hub.inbound_directory']) {
    await (await db()).query(`delete from ${table} where connection_id = $1`, [old.connectionId])
  }
  expect((await send(hub, old, invoked())).status).toBe(401)
  const answer = await hub.call('acme', 'POST', `${connectorsPath}/${old.connectionId}:rotate-inbound-secret`)
  expect(Object.keys(answer.body).sort()).toEqual(['connection_id', 'secret'])
  expect((await send(hub, { ...old, secret: answer.body.secret }, invoked())).body.status).toBe('accepted')
})

test('many at the same time leave one that is good, and one that was', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, rotate))
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
  const taken: boolean[] = []
  for (const { body } of answers) taken.push(await isTaken(body.secret))
  expect(taken.filter(Boolean)).toHaveLength(2)
})

test('refused: a body, an unknown connector', async () => {
  const answer = await hub.call('acme', 'POST', path, { body: { secret: 'whsec_mine' } })
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/secret']])
  const unknown = await hub.call('acme', 'POST', `${connectorsPath}/con_unknown:rotate-inbound-secret`)
  expect([unknown.status, slugOf(unknown)]).toEqual([404, 'not-found'])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path }),
  wrongScopes: ['hub:read', 'roster:write'],
  otherTenant: 404,
})
