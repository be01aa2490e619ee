import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRefusals, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/tenant'
const scopes = ['connector:admin', 'roster:write'] as const
const put = (tenant: string, body: unknown) => hub.call(tenant, 'PUT', path, { scopes, body })
const changes = async (tenant: string) =>
  (await hub.events(tenant)).filter(({ details }) => details.change === 'details')

test('sending what is there confirms it, once', async () => {
  const first = await put('globex', { display_name: 'globex' })
  expect(first.status).toBe(200)
  expect(first.body.confirmed_at).toMatch(/\.\d{6}Z$/)
  expect(await changes('globex')).toMatchObject([
    {
      event_kind: 'tenant.config_changed',
      subject: 'tenant:globex',
      details: {
        before: { display_name: 'globex', confirmed: false },
        after: { display_name: 'globex', confirmed: true },
        request_id: expect.any(String),
      },
    },
  ])
  expect((await put('globex', { display_name: 'globex' })).body).toEqual(first.body)
  expect(await changes('globex')).toHaveLength(1)
})

test('name and contact change; the time of the first confirmation stays, and no address is in the log', async () => {
  const body = { display_name: 'Acme Corporation', contact_email: 'it@acme.example' }
  const changed = await put('acme', body)
  expect(changed.body).toMatchObject({ ...body, tenant: 'acme', mode: 'A', admin_email: 'admin@acme.example' })
  expect((await hub.call('acme', 'GET', path, { scopes })).body).toEqual(changed.body)

  const again = await put('acme', { display_name: 'Acme' })
  expect(again.body).not.toHaveProperty('contact_email')
  expect(again.body.confirmed_at).toBe(changed.body.confirmed_at)
  const events = await changes('acme')
  expect(events).toHaveLength(2)
  expect(events[1]?.details).toMatchObject({
    contact_email_changed: true,
    before: { display_name: 'Acme Corporation', has_contact_email: true },
    after: { display_name: 'Acme', has_contact_email: false },
  })
  expect(JSON.stringify(events)).not.toContain('@')
})

test.each<[string, unknown, string]>([
  ['no name', {}, '/display_name'],
  ['an empty name', { display_name: '' }, '/display_name'],
  ['a name of two lines', { display_name: 'a\nb' }, '/display_name'],
  ['a name too long', { display_name: 'x'.repeat(201) }, '/display_name'],
  ['no address of mail', { display_name: 'x', contact_email: 'nobody' }, '/contact_email'],
  ['null', { display_name: 'x', contact_email: null }, '/contact_email'],
  ['another mode', { display_name: 'x', mode: 'C' }, '/mode'],
])('%s is refused', async (_name, body, pointer) => {
  const { status, body: problem } = await put('cmode', body)
  expect([status, problem.errors.map((each: { pointer: string }) => each.pointer)]).toEqual([400, [pointer]])
  expect(await changes('cmode')).toEqual([])
})

test('without token, scopes or tenant nothing is changed', async () => {
  const body = { display_name: 'taken' }
  expect(await commonRefusals(hub, 'PUT', path, { scopes: ['connector:admin', 'hub:write'], body })).toEqual(allRefused)
  expect((await hub.call('cmode', 'GET', path, { scopes })).body.display_name).toBe('cmode')
})
