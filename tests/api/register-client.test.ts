import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callback, register } from '../auth/client-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ limitFactor: 100 })
})
afterAll(() => hub.stop())

test('registers a public client, and ignores what it does not use', async () => {
  const { status, body, headers } = await register(hub.baseUrl, {
    redirect_uris: [callback, 'https://agent.example/callback?tenant=1', callback],
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['password'],
    logo_uri: 'http://169.254.169.254/',
  })
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
  expect(body).toEqual({
    client_id: expect.stringMatching(/^hubc\.[\w-]+\.[\w-]{43}$/),
    client_id_issued_at: expect.any(Number),
    client_name: 'Agent One',
    redirect_uris: [callback, 'https://agent.example/callback?tenant=1'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
  const again = await register(hub.baseUrl)
  expect(again.body.client_id).not.toBe((await register(hub.baseUrl)).body.client_id)
})

test('a name is text without characters that change how it reads; without one the host is it', async () => {
  const named = await register(hub.baseUrl, { client_name: ' Safe\u202egnp\u0007.\u2028 exe ' })
  expect(named.body.client_name).toBe('Safegnp. exe')
  const unnamed = await register(hub.baseUrl, { client_name: undefined, redirect_uris: ['https://a.example/x'] })
  expect(unnamed.body.client_name).toBe('a.example')
})

describe('refuses', () => {
  test.each([
    'http://agent.example/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.1@evil.example/callback',
    'http://localhost:80@evil.example/',
    'http://2130706433/callback',
    'http://127.1/callback',
    'http://127.0.0.1:99999999/',
    'https://user:password@agent.example/',
    'https://@agent.example/',
    'https://agent.example/#fragment',
    'https://agent.example/#',
    'https://agent.example\\@evil.example/',
    'https://agent.example/ x',
    'https://agent.example/\tx',
    'https://ägent.example/',
    'https://%61gent.example/',
    'https://agent.example%2f@evil.example/',
    'https://agent.example%00.evil.example/',
    'https://agent\u202e.example/',
    'https://agent.example;evil.example/',
    "https://agent.example'evil.example/",
    'https://agent.example,evil.example/',
    'https://agent_.example/',
    'https://agent..example/',
    'https://agent.example./',
    'https://agent.example:/',
    'https://agent.example:65536/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::1%25eth0]/',
    'https:///callback',
    'https:agent.example',
    'https://agent.example/?code=1',
    'https://agent.example/?state=1&a=b',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'com.example.app:/callback',
    '/callback',
    '//agent.example/callback',
    '',
    `https://agent.example/${'x'.repeat(480)}`,
  ])('the redirect URI %s', async (uri) => {
    const { status, body } = await register(hub.baseUrl, { redirect_uris: [callback, uri] })
    expect([status, body.errors[0].pointer, typeof body.error_description]).toEqual([400, '/redirect_uris/1', 'string'])
    if (uri.length < 500) expect(body.error).toBe('invalid_redirect_uri')
  })

  test.each<[string, object, string]>([
    ['no redirect URI', { redirect_uris: [] }, '/redirect_uris'],
    ['a missing list', { redirect_uris: undefined }, '/redirect_uris'],
    ['too many', { redirect_uris: Array.from({ length: 11 }, (_, at) => `https://a.example/${at}`) }, '/redirect_uris'],
    [
      'too long together',
      { redirect_uris: [1, 2].map((at) => `https://a.example/${at}${'x'.repeat(400)}`) },
      '/redirect_uris',
    ],
    ['a long name', { client_name: 'x'.repeat(101) }, '/client_name'],
    ['a name that is no text', { client_name: 1 }, '/client_name'],
  ])('%s', async (_name, metadata, pointer) => {
    const { status, body } = await register(hub.baseUrl, metadata)
    expect([status, body.errors[0].pointer]).toEqual([400, pointer])
  })

  test('oversized metadata', async () => {
    expect((await register(hub.baseUrl, { client_uri: 'x'.repeat(17_000) })).status).toBe(413)
    expect((await register(hub.baseUrl, { contacts: Array.from({ length: 2000 }, () => '') })).status).toBe(413)
  })
})

test('a flood from one address is limited, and stores nothing', async () => {
  const own = await startHub({ limitFactor: 1 })
  const rows = async () => {
    const superuser = await own.superuserClient()
    const { rows: counted } = await superuser.query(
      `select sum(n_tup_ins)::int as count from pg_stat_user_tables where schemaname = 'hub' and relname ~ 'client|session'`,
    )
    return counted[0].count
  }
  const before = await rows()
  const statuses: number[] = []
  for (let call = 0; call < 12; call += 1) statuses.push((await register(own.baseUrl)).status)
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
  expect(await rows()).toBe(before)
  await own.stop()
})
