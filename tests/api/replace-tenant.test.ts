import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

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

test.each<[string, (got: object) => unknown]>([
  ['what GET answers', (got) => got],
  ['nothing', () => undefined],
  ['an empty object', () => ({})],
])('%s confirms what is there', async (_name, bodyOf) => {
  const { body: got } = await hub.call('globex', 'GET', path, { scopes })
  const answer = await put('globex', bodyOf(got))
  expect([answer.status, answer.body]).toEqual([200, got])
  expect(await changes('globex')).toHaveLength(1)
})

test('an empty body is the first confirmation, too', async () => {
  const { body: got } = await hub.call('bmode', 'GET', path, { scopes })
  expect(got).not.toHaveProperty('confirmed_at')
  const first = await put('bmode', undefined)
  expect([first.status, first.body]).toEqual([200, { ...got, confirmed_at: expect.stringMatching(/Z$/) }])
  expect((await put('bmode', { ...got, display_name: 'B' })).body).toEqual({ ...first.body, display_name: 'B' })
  expect(await changes('bmode')).toHaveLength(2)
})

test('all that differs is named, with what is wrong besides', async () => {
  const pointersOf = async (body: object) =>
    (await put('cmode', body)).body.errors.map((error: { pointer: string }) => error.pointer).sort()
  expect(await pointersOf({ mode: 'A', tenant: 'acme', created_at: '2026-01-05T09:30:00.000000Z' })).toEqual([
    '/created_at',
    '/mode',
    '/tenant',
  ])
  expect(await pointersOf({ display_name: '', contact_email: 'a@b@c.example', colour: 1 })).toEqual([
    '/colour',
    '/contact_email',
    '/display_name',
  ])
})

test('name and contact change; the time of the first confirmation stays, and no address is in the log', async () => {
  const body = { display_name: 'Acme Corporation', contact_email: 'it@acme.example' }
  const changed = await put('acme', body)
  expect(changed.body).toMatchObject({ ...body, tenant: 'acme', mode: 'A', admin_email: 'admin@acme.example' })
  expect((await hub.call('acme', 'GET', path, { scopes })).body).toEqual(changed.body)

  const renamed = await put('acme', { display_name: 'Acme' })
  expect(renamed.body).toEqual({ ...changed.body, display_name: 'Acme' })
  const again = await put('acme', { contact_email: null })
  expect(again.body).not.toHaveProperty('contact_email')
  expect(again.body.confirmed_at).toBe(changed.body.confirmed_at)
  const events = await changes('acme')
  expect(events).toHaveLength(3)
  expect(events[1]?.details).toMatchObject({
    before: { display_name: 'Acme Corporation', has_contact_email: true },
    after: { display_name: 'Acme', has_contact_email: true },
  })
  expect(events[2]?.details).toMatchObject({
    contact_email_changed: true,
    before: { display_name: 'Acme', has_contact_email: true },
    after: { display_name: 'Acme', has_contact_email: false },
  })
  expect(JSON.stringify(events)).not.toContain('@')
})

test.each<[string, unknown, string]>([
  ['an empty name', { display_name: '' }, '/display_name'],
  ['a name of two lines', { display_name: 'a\nb' }, '/display_name'],
  ['a name too long', { display_name: 'x'.repeat(201) }, '/display_name'],
  ['no address of mail', { display_name: 'x', contact_email: 'nobody' }, '/contact_email'],
  ['no name', { display_name: null }, '/display_name'],
  ['an unknown member', { colour: 'red' }, '/colour'],
  ['another mode', { display_name: 'x', mode: 'A' }, '/mode'],
  ['another address', { base_url: 'https://elsewhere.example' }, '/base_url'],
  ['another administrator', { admin_email: 'thief@acme.example' }, '/admin_email'],
  ['a time that is not there yet', { live_since: '2026-01-05T09:30:00.000000Z' }, '/live_since'],
])('%s is refused', async (_name, body, pointer) => {
  const { status, body: problem } = await put('cmode', body)
  expect([status, problem.errors.map((each: { pointer: string }) => each.pointer)]).toEqual([400, [pointer]])
  expect(await changes('cmode')).toEqual([])
})

test('the mail server is ignored, because the operator may have changed it since GET', async () => {
  const { body: got } = await hub.call('globex', 'GET', path, { scopes })
  const answer = await put('globex', { ...got, mail_server: !got.mail_server })
  expect([answer.status, answer.body]).toEqual([200, got])
  expect(await changes('globex')).toHaveLength(1)
})

test('without token, scopes or tenant nothing is changed', async () => {
  const body = { display_name: 'taken' }
  expect(await commonRejections(hub, 'PUT', path, { scopes: ['connector:admin', 'hub:write'], body })).toEqual(
    allRefused,
  )
  expect((await hub.call('cmode', 'GET', path, { scopes })).body.display_name).toBe('cmode')
})
