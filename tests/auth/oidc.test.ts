import { decodeJwt, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { callbackPath, client, kim, loginPath, type OidcLab, startOidcLab } from './oidc-lab.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab({ hub: { settings: { HUB_TRUSTED_PROXIES: '127.0.0.0/8' } } })
  await lab.connect('acme')
})
afterAll(() => lab.close())
afterEach(() => {
  for (const fault of Object.keys(lab.provider.faults))
    delete lab.provider.faults[fault as keyof OidcLab['provider']['faults']]
})

const refusals = async (reason: string) => {
  // They are written behind the answer.
  await lab.hub.modules.denials.settled()
  return (await lab.events('acme', 'auth.login_failed')).filter((event) => event.details.reason === reason)
}
const usersOf = async (tenant: 'acme' | 'globex') =>
  lab.hub.test.database.withTenant(tenant, async (tx) =>
    tx.db
      .selectFrom('hub.users')
      .select(['user_id', 'email', 'display_name', 'role'])
      .where('tenant_id', '=', tenant)
      .execute(),
  )

describe('the whole way', () => {
  test('a person signs in at the provider and lands with a session', async () => {
    const browser = lab.browser()
    const begun = await browser.go(`${loginPath}?tenant=acme&return_to=/session`)
    expect(begun.status).toBe(302)
    const asked = new URL(begun.location ?? '')
    expect(asked.origin + asked.pathname).toBe(`${lab.provider.issuer}/auth`)
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      client_id: client.client_id,
      redirect_uri: `${lab.hub.baseUrl}${callbackPath}`,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    const callback = await lab.provider.signIn(asked, 'kim', browser.jar)
    expect(callback.searchParams.get('iss')).toBe(lab.provider.issuer)

    const landed = await browser.go(callback)
    expect([landed.status, landed.location]).toEqual([303, '/session'])
    const cookies = await browser.cookies()
    expect(Object.keys(cookies)).toEqual(['service_session'])
    expect(decodeJwt(cookies.service_session ?? '').iss).toBe(lab.hub.baseUrl)
    const [login] = await lab.events('acme', 'auth.login')
    const [user] = await usersOf('acme')
    expect(user).toMatchObject({ email: kim.email, display_name: kim.name, role: 'member' })
    expect(login).toMatchObject({
      subject: `user:${user?.user_id}`,
      details: { method: 'oidc', connection_id: expect.stringMatching(/^sso_/) },
    })

    const token = await fetch(`${lab.hub.baseUrl}/api/v1/auth/token`, {
      method: 'POST',
      headers: { cookie: `service_session=${cookies.service_session}` },
    })
    expect(token.status).toBe(200)
  })

  test('the cookies are for the host alone, not for scripts, and in time', async () => {
    const browser = lab.browser()
    const begun = await browser.go(`${loginPath}?tenant=acme`)
    const attributes = '; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax'
    const [line = ''] = begun.headers.getSetCookie()
    const value = (await browser.cookies())['__Host-service_login'] ?? ''
    expect(value).toMatch(/^[\w-]{300,1500}$/)
    expect(line).toBe(`__Host-service_login=${value}${attributes}`)
    const callback = await lab.provider.signIn(begun.location ?? '', 'kim', browser.jar)
    const lines = (await browser.go(callback)).headers.getSetCookie()
    expect(lines.filter((each) => each.startsWith('__Host-service_login='))).toEqual([
      '__Host-service_login=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
    ])
    expect(lines.find((each) => each.startsWith('service_session='))).toMatch(
      /; Max-Age=28\d{3}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    )
  })

  test('the same person comes back as the same user, also with another address', async () => {
    await lab.browser().signIn('acme', 'kim')
    const before = await usersOf('acme')
    lab.provider.accounts.set('kim', { ...kim, email: 'kim.novak@ACME.example' })
    expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
    lab.provider.accounts.set('kim', kim)
    expect((await usersOf('acme')).map((user) => user.user_id)).toEqual(before.map((user) => user.user_id))
  })

  test('what the provider adds to the callback does not matter', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    callback.searchParams.set('session_state', 'x.y')
    callback.searchParams.set('scope', 'openid')
    expect((await browser.go(callback)).status).toBe(303)
  })

  test('two tenants with one provider have two users for one subject', async () => {
    await lab.connect('globex', { allowed_email_domains: ['acme.example'] })
    const [inAcme, inGlobex] = [lab.browser(), lab.browser()]
    expect((await inAcme.signIn('acme', 'kim')).status).toBe(303)
    expect((await inGlobex.signIn('globex', 'kim')).status).toBe(303)
    const subjects = [inAcme, inGlobex].map(
      async (browser) => decodeJwt((await browser.cookies()).service_session ?? '').sub,
    )
    const [acme, globex] = await Promise.all(subjects)
    expect(acme).not.toBe(globex)
    expect(await usersOf('globex')).toHaveLength(1)
  })

  test('what the provider says of itself is asked once for many logins', async () => {
    await lab.browser().signIn('acme', 'kim')
    lab.provider.requests.length = 0
    for (let i = 0; i < 3; i += 1) await lab.browser().signIn('acme', 'kim')
    expect(lab.provider.requests.filter((each) => /well-known|jwks/.test(each))).toEqual([])
    expect(lab.provider.requests.filter((each) => each === 'POST /token')).toHaveLength(3)
  })

  test('neither the code nor the address of a person gets into the log', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    await browser.go(callback)
    const log = lab.hub.logLines.join('\n')
    for (const secret of [
      callback.searchParams.get('code') ?? '',
      callback.searchParams.get('state') ?? '',
      kim.email,
      client.client_secret,
    ])
      expect(log).not.toContain(secret)
  })
})

describe('keys and secrets that change', () => {
  test('a provider that signs with a new key is believed at once', async () => {
    await lab.browser().signIn('acme', 'kim')
    await lab.provider.rotateKeys()
    lab.provider.requests.length = 0
    expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
    expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
    expect(lab.provider.requests.filter((each) => each === 'GET /jwks')).toHaveLength(1)
  })

  test('a secret that the provider no longer takes is said to be that, until the new one is configured', async () => {
    lab.provider.setSecret(client.client_id, 'a newer secret of the provider')
    const refused = await lab.browser().signIn('acme', 'kim')
    expect([refused.status, refused.body.reason]).toEqual([503, 'client_refused'])
    expect(refused.body.detail).toMatch(/configure single sign-on/)
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      const browser = lab.browser()
      await browser.go(await browser.toCallback('acme', 'kim'), { 'x-forwarded-for': address })
    }
    // Whoever came: it is nobody's doing but the provider's, or the configuration's.
    const told = (await refusals('client_refused')).map(({ details }) => [details.address, details.count])
    expect(told).toEqual([
      [undefined, undefined],
      [undefined, 2],
    ])
    await lab.connect('acme', { client_secret: 'a newer secret of the provider' })
    expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
    lab.provider.setSecret(client.client_id, client.client_secret)
    await lab.connect('acme')
    expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
  })

  test('a login that was begun with a connection does not end with its successor', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('globex', 'kim')
    await lab.connect('globex', { client_id: 'another' })
    const refused = await browser.go(callback)
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/query/state'])
    await lab.connect('globex')
    expect((await lab.browser().signIn('globex', 'kim')).status).toBe(303)
  })
})

describe('a provider that is away', () => {
  test('is said to be away, when a login begins and when it ends', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    // A change forgets what was remembered of the provider.
    await lab.connect('acme', { allowed_email_domains: ['acme.example', 'other.example'] })
    await lab.provider.stop()
    const end = await browser.go(callback)
    expect([end.status, end.body.type, end.headers.get('retry-after')]).toEqual([
      503,
      `${lab.hub.baseUrl}/errors/hub-unavailable`,
      expect.stringMatching(/^\d+$/),
    ])
    const begin = await lab.browser().go(`${loginPath}?tenant=acme`)
    expect([begin.status, begin.body.detail]).toEqual([503, expect.stringContaining('identity provider')])
    await lab.provider.start()
    expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
    expect(await browser.cookies()).toEqual({})
  })

  test('an answer that is none counts as away', async () => {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    lab.provider.faults.status = 500
    expect((await browser.go(callback)).status).toBe(503)
  })
})

describe('people who may not sign in', () => {
  test.each([
    ['another domain', { email: 'eve@evil.example' }, 'email_domain'],
    ['a subdomain', { email: 'eve@sub.acme.example' }, 'email_domain'],
    ['a domain that ends alike', { email: 'eve@notacme.example' }, 'email_domain'],
    ['a domain in the local part', { email: 'eve@acme.example@evil.example' }, 'email_missing'],
    ['an address that is not verified', { email: 'eve@acme.example', email_verified: false }, 'email_unverified'],
    ['no address', {}, 'email_missing'],
    ['no address, but two', { email: ['a@acme.example', 'b@evil.example'] as unknown as string }, 'email_missing'],
  ])('%s', async (_name, claims, reason) => {
    lab.provider.accounts.set('eve', { sub: 'eve', ...claims })
    const browser = lab.browser()
    const before = await usersOf('acme')
    const notedBefore = (await refusals(reason)).length
    const refused = await browser.signIn('acme', 'eve')
    expect([refused.status, refused.body.type, refused.body.reason]).toEqual([
      401,
      `${lab.hub.baseUrl}/errors/authentication-failed`,
      reason,
    ])
    expect(refused.body.detail.length).toBeGreaterThan(60)
    expect(await browser.cookies()).toEqual({})
    expect(await usersOf('acme')).toEqual(before)
    const noted = await refusals(reason)
    expect(noted.length).toBeGreaterThan(notedBefore)
    expect(noted.at(-1)).toMatchObject({
      subject: expect.stringMatching(/^connection:sso_/),
      details: { address: '127.0.0.1' },
    })
    expect(JSON.stringify(noted)).not.toContain('eve@')
  })

  test('an address in capitals and another script is inside its domain', async () => {
    await lab.connect('acme', { allowed_email_domains: ['acme.example', 'Bücher.example'] })
    lab.provider.accounts.set('ada', { sub: 'ada', email: 'Ada@XN--BCHER-KVA.example' })
    expect((await lab.browser().signIn('acme', 'ada')).status).toBe(303)
    lab.provider.accounts.set('bob', { sub: 'bob', email: 'bob@BÜCHER.EXAMPLE' })
    expect((await lab.browser().signIn('acme', 'bob')).status).toBe(303)
    await lab.connect('acme')
  })

  test('a domain that is taken away lets nobody in any more', async () => {
    await lab.connect('globex', { allowed_email_domains: ['globex.example'] })
    expect((await lab.browser().signIn('globex', 'kim')).body.reason).toBe('email_domain')
  })

  test('who cancels gets a 400 and is not written down', async () => {
    const browser = lab.browser()
    await lab.hub.modules.denials.settled()
    const before = await lab.events('acme', 'auth.login_failed')
    const refused = await browser.go(await browser.toCallback('acme', null))
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/query/error'])
    expect(refused.body.detail).toContain('access_denied')
    expect(await browser.cookies()).toEqual({})
    await lab.hub.modules.denials.settled()
    expect(await lab.events('acme', 'auth.login_failed')).toEqual(before)
  })
})

describe('an ID token that does not hold', () => {
  const later = Math.floor(Date.now() / 1000)
  test.each([
    ['another audience', { aud: 'another' }],
    ['several audiences, issued to another', { aud: [client.client_id, 'another'], azp: 'another' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['another nonce', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['an end that has come', { exp: later - 3600 }],
    ['a beginning that has not', { nbf: later + 3600 }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject of 300 characters', { sub: 'x'.repeat(300) }],
  ])('%s', async (_name, change) => {
    lab.provider.faults.idToken = (claims) => JSON.parse(JSON.stringify({ ...claims, ...change }))
    const browser = lab.browser()
    const refused = await browser.signIn('acme', 'kim')
    expect([refused.status, refused.body.reason]).toEqual([401, 'id_token'])
    expect(await browser.cookies()).toEqual({})
  })

  test('a signature of a key that the provider does not have', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    lab.provider.faults.key = { kid: 'forged', alg: 'ES256', privateKey }
    const refused = await lab.browser().signIn('acme', 'kim')
    expect([refused.status, refused.body.reason]).toEqual([401, 'id_token'])
  })

  test('a signature of another key under the name of the right one', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    const { keys } = (await (await fetch(`${lab.provider.issuer}/jwks`)).json()) as { keys: [{ kid: string }] }
    lab.provider.faults.key = { kid: keys[0].kid, alg: 'ES256', privateKey }
    const refused = await lab.browser().signIn('acme', 'kim')
    expect([refused.status, refused.body.reason]).toEqual([401, 'id_token'])
  })

  test('a signature with the client secret', async () => {
    lab.provider.faults.key = {
      kid: 'x',
      alg: 'HS256',
      privateKey: new TextEncoder().encode(client.client_secret.padEnd(32)),
    }
    const refused = await lab.browser().signIn('acme', 'kim')
    expect([refused.status, refused.body.reason]).toEqual([401, 'id_token'])
  })
})
