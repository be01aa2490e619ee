import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operator } from '../auth/auth-lab.ts'
import { loginPath, type OidcLab, startOidcLab } from '../auth/oidc-lab.ts'

const own = 'http://customer.localhost'
let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab()
  await lab.connect('acme')
  const customer = { slug: 'customer', mode: 'C' as const, adminEmail: 'admin@customer.example', baseUrl: own }
  await lab.hub.modules.tenants.administration.create(customer, operator)
})
afterAll(() => lab.close())

const ask = async (query: string, headers: Record<string, string> = {}) => {
  const host = headers.host ?? new URL(lab.hub.baseUrl).host
  const response = await lab.hub.app.inject({
    method: 'GET',
    url: `${loginPath}${query}`,
    headers: { ...headers, host },
  })
  const { statusCode: status, headers: sent } = response
  return {
    status,
    location: sent.location,
    cookies: [sent['set-cookie'] ?? []].flat(),
    body: status >= 400 ? response.json() : undefined,
    text: response.payload,
    sent,
  }
}

/** Makes a connection for the tenant with the own address, at that address. */
async function connectCustomer() {
  const tenant = await lab.hub.modules.tenants.directory.find('customer')
  if (!tenant) throw new Error('no tenant')
  const { modules, app } = lab.hub
  const account = await modules.auth.serviceAccounts.create(
    tenant,
    { name: 'x', scopes: ['connector:admin', 'roster:write'] },
    operator,
  )
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: account.client_id,
    client_secret: account.client_secret,
  })
  const host = new URL(own).host
  const token = await app.inject({
    method: 'POST',
    url: '/api/v1/oauth/token',
    headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
    payload: form.toString(),
  })
  const configured = await app.inject({
    method: 'POST',
    url: '/api/v1/identity/sso/configure',
    headers: { host, authorization: `Bearer ${token.json().access_token}`, 'x-service-tenant': 'customer' },
    payload: {
      issuer: lab.provider.issuer,
      client_id: 'c',
      client_secret: 's',
      allowed_email_domains: ['customer.example'],
    },
  })
  expect([configured.statusCode, configured.json().redirect_uri]).toEqual([200, `${own}/api/v1/auth/callback`])
}

test('sends the browser to the provider, with a cookie', async () => {
  const answer = await ask('?tenant=acme')
  expect([answer.status, new URL(String(answer.location)).origin]).toEqual([302, lab.provider.issuer])
  expect(answer.cookies).toHaveLength(1)
  const again = await ask('?tenant=acme')
  const secrets = [answer, again].map(({ location }) => new URL(String(location)).searchParams)
  for (const name of ['state', 'nonce', 'code_challenge']) expect(secrets[0]?.get(name)).not.toBe(secrets[1]?.get(name))
})

describe('from another site', () => {
  const crossSite = { 'sec-fetch-site': 'cross-site' }

  test('the person is asked first: no login begins before they go on', async () => {
    const answer = await ask('?tenant=acme&return_to=/records?a=1%26b=2', crossSite)
    expect([answer.status, answer.location, answer.cookies]).toEqual([200, undefined, []])
    expect(answer.sent).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
    })
    expect(answer.text).toContain('<h1>Sign in to acme?</h1>')
    expect(answer.text).not.toContain('<form')
    // The first is the name of the service, at the head of the page.
    const links = [...answer.text.matchAll(/href="([^"]*)"/g)]
      .slice(1)
      .map(([, href = '']) => href.replaceAll('&amp;', '&'))
    expect(links).toEqual([`${loginPath}?tenant=acme&return_to=%2Frecords%3Fa%3D1%26b%3D2`])
    const gone = await ask(links[0]?.slice(loginPath.length) ?? '', { 'sec-fetch-site': 'same-origin' })
    expect([gone.status, gone.cookies.length]).toEqual([302, 1])
  })

  test.each([{}, ...['none', 'same-origin', 'same-site'].map((from) => ({ 'sec-fetch-site': from }))])(
    'is not %j',
    async (headers) => {
      const answer = await ask('?tenant=acme', headers)
      expect([answer.status, answer.cookies.length]).toEqual([302, 1])
    },
  )

  test('an unknown tenant gets the same answer as otherwise', async () => {
    for (const slug of ['globex', 'nowhere', '<b>acme</b>']) {
      const query = `?tenant=${encodeURIComponent(slug)}`
      const [answer, other] = [await ask(query, crossSite), await ask(query)]
      expect({ ...answer.body, instance: 0 }).toEqual({ ...other.body, instance: 0 })
      expect([answer.status, answer.cookies]).toEqual([403, []])
    }
  })
})

test('an unknown tenant and one without a provider get the same answer', async () => {
  const answers = await Promise.all(
    ['globex', 'nowhere', 'NOT A SLUG', '../acme', 'customer'].map((slug) =>
      ask(`?tenant=${encodeURIComponent(slug)}`),
    ),
  )
  const [first] = answers
  expect([first?.status, first?.body.type]).toEqual([403, `${lab.hub.baseUrl}/errors/invalid-tenant`])
  for (const { status, body, cookies } of answers) {
    expect({ status, cookies, ...body, instance: 0, tenant_slug: 0 }).toEqual({
      status: 403,
      cookies: [],
      ...first?.body,
      instance: 0,
      tenant_slug: 0,
    })
  }
})

describe('refused', () => {
  test.each([
    ['no tenant', '', '/query/tenant'],
    ['an empty tenant', '?tenant=', '/query/tenant'],
    ['two tenants', '?tenant=acme&tenant=globex', '/query/tenant'],
    ['two places', '?tenant=acme&return_to=/a&return_to=/b', '/query/return_to'],
    ['an unknown parameter', '?tenant=acme&redirect_uri=https://evil.example', '/query/redirect_uri'],
    ['a tenant of 201 characters', `?tenant=${'a'.repeat(201)}`, '/query/tenant'],
  ])('%s', async (_name, query, pointer) => {
    const answer = await ask(query)
    expect([answer.status, answer.body.errors[0].pointer, answer.cookies]).toEqual([400, pointer, []])
  })
})

describe('a tenant with an address of its own', () => {
  beforeAll(connectCustomer)

  test('is unknown at the common address', async () => {
    const crossSite = { 'sec-fetch-site': 'cross-site' }
    for (const headers of [{}, crossSite]) {
      const [answer, unknown] = [await ask('?tenant=customer', headers), await ask('?tenant=nowhere', headers)]
      expect([answer.status, answer.cookies]).toEqual([403, []])
      expect({ ...answer.body, instance: 0, tenant_slug: 0 }).toEqual({ ...unknown.body, instance: 0, tenant_slug: 0 })
    }
  })

  test('asks who comes from another site', async () => {
    const crossSite = { 'sec-fetch-site': 'cross-site' }
    const answer = await ask('?tenant=customer', { ...crossSite, host: 'customer.localhost' })
    expect([answer.status, answer.cookies]).toEqual([200, []])
    expect(answer.text).toContain('<h1>Sign in to customer?</h1>')
  })

  test('needs no name there, and comes back there', async () => {
    for (const query of ['', '?tenant=customer']) {
      const answer = await ask(query, { host: 'customer.localhost' })
      const sent = new URL(String(answer.location)).searchParams
      expect([answer.status, sent.get('redirect_uri'), answer.cookies.length]).toEqual([
        302,
        `${own}/api/v1/auth/callback`,
        1,
      ])
    }
  })

  test('no other tenant is served there', async () => {
    const answer = await ask('?tenant=acme', { host: 'customer.localhost' })
    expect([answer.status, answer.body.type]).toEqual([403, `${own}/errors/invalid-tenant`])
  })
})

test('this machine by another name is left for the one that the provider sends back to', async () => {
  const { port } = new URL(lab.hub.baseUrl)
  const answer = await ask('?tenant=acme', { host: `localhost:${port}` })
  expect([answer.status, answer.location, answer.cookies]).toEqual([
    302,
    `${lab.hub.baseUrl}${loginPath}?tenant=acme&return_to=%2F`,
    [],
  ])
})

test('an address begins so many logins in a minute, and the tenant pays for none', async () => {
  const limited = await startOidcLab({ hub: { limitFactor: 1 } })
  try {
    const answers: number[] = []
    for (let i = 0; i < 101; i += 1) answers.push((await limited.browser().go(`${loginPath}?tenant=nowhere`)).status)
    expect(answers.slice(0, 100)).toEqual(Array(100).fill(403))
    expect(answers.at(-1)).toBe(429)
    const token = await limited.hub.token('acme')
    expect(token).toMatch(/^ey/)
  } finally {
    await limited.close()
  }
})
