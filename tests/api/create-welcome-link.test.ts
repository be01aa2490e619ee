import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import {
  allStrangersRefused,
  type OperatorLab,
  ofTenant,
  problemOf,
  startOperatorLab,
  strangersAnswers,
} from '../tenants/operator-lab.ts'

let lab: OperatorLab
beforeAll(async () => {
  lab = await startOperatorLab()
})
afterAll(() => lab.hub.stop())

const path = ofTenant('acme', ':welcome-link')

test('a further link opens, and the tenant’s log tells of it', async () => {
  const before = (await eventsOf(lab.hub.test.database, 'acme')).length
  const made = await lab.call('POST', path)
  expect([made.status, made.headers['cache-control']]).toEqual([200, 'no-store'])
  expect(made.body).toMatchObject({ tenant: 'acme', mode: 'A', admin_email: 'admin@acme.example' })
  expect((await fetch(made.body.welcome_url)).status).toBe(200)
  const events = await eventsOf(lab.hub.test.database, 'acme')
  expect(events).toHaveLength(before + 1)
  const event = events.find((each) => each.details.change === 'welcome_link')
  expect(event).toMatchObject({
    event_kind: 'tenant.config_changed',
    details: { actor: 'operator:api', after: { expires_at: made.body.welcome_expires_at } },
  })
  expect(JSON.stringify(events)).not.toContain(made.body.welcome_url.split('/').at(-1))
})

test('there is none for a tenant that does not exist, and a body has nothing to say', async () => {
  expect(problemOf(await lab.call('POST', ofTenant('nobody', ':welcome-link')))).toEqual([404, 'not-found'])
  expect(problemOf(await lab.call('POST', path, { email: 'a@b.example' }))).toEqual([400, 'validation-failed'])
})

test('its address takes no other method', async () => {
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const answer = await lab.call(method, path)
    expect([...problemOf(answer), answer.headers.allow]).toEqual([405, 'method-not-allowed', 'POST'])
  }
})

test('nobody but the operator makes one', async () => {
  expect(await strangersAnswers(lab, 'POST', path, {})).toEqual(allStrangersRefused)
})
