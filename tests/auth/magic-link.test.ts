import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventsOf } from './auth-lab.ts'
import { type LinkLab, press, sessionCookieOf, startLinkLab, whoIsSignedIn } from './link-lab.ts'

const email = 'kim@acme.example'

let lab: LinkLab
let kim: string
beforeAll(async () => {
  lab = await startLinkLab()
  kim = await lab.add('acme', email, 'analyst')
})
afterAll(() => lab.stop())
/** So that no test is refused a link for those of the tests before it. */
beforeEach(() => lab.age('acme', '2 hours'))

/** A link that was asked for and has arrived. */
async function mailedLink(to = email): Promise<string> {
  const count = lab.mail.received.length
  expect((await lab.request({ email: to, tenant: 'acme' })).status).toBe(202)
  return lab.linkAfter(count)
}

describe('the message', () => {
  test('has the same link in both parts, says whose tenant it is and until when, and nothing comes from elsewhere', async () => {
    const link = await mailedLink()
    const { message, to } = lab.mail.received.at(-1)!
    expect(link).toMatch(new RegExp(`^${lab.hub.baseUrl}/sign-in/link/acme/[\\w-]{43}$`))
    expect(to).toEqual([email])
    expect(message.subject).toBe('Sign in to acme')
    for (const part of [message.text, message.html]) {
      expect(part).toContain(lab.hub.baseUrl)
      expect(part).toMatch(/until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
      expect(part).toContain('ignore this message')
    }
    const html = message.html ?? ''
    expect(html).toContain('<html lang="en">')
    expect(html).toContain('<title>Sign in to acme</title>')
    expect(html).toContain(`>Sign in to acme</a>`)
    expect(html).toContain(`>${link}</a>`)
    expect(html).toContain('prefers-color-scheme: dark')
    expect(html).not.toMatch(/<img|<script|src=|url\(|@import/)
  })
})

describe('the page of a link', () => {
  test('says whose tenant, as whom and until when, and has one button', async () => {
    const response = await fetch(await mailedLink())
    const page = await response.text()
    expect(response.status).toBe(200)
    expect(page).toContain('<h1>Sign in to acme</h1>')
    expect(page).toContain(`<strong>${email}</strong>`)
    expect(page).toMatch(/until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
    expect(page.match(/<form[^>]*>/g)).toEqual(['<form method="post">'])
    expect(page.match(/<button/g)).toHaveLength(1)
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script>'])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'strict-origin',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; .*form-action 'self'; frame-ancestors 'none'/,
      ),
    })
    expect(response.headers.getSetCookie()).toEqual([])
  })

  test('may be opened by whatever scans mail: only the button uses the link up, and once', async () => {
    const link = await mailedLink()
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) expect((await fetch(link, { method })).status).toBe(200)
    const response = await press(link)
    expect([response.status, response.headers.get('location')]).toEqual([303, '/'])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await whoIsSignedIn(lab.hub, response)).toMatchObject({
      tenant: 'acme',
      email,
      role: 'analyst',
      session: { method: 'magic_link' },
    })
    const again = await press(link)
    expect([again.status, sessionCookieOf(again)]).toEqual([404, undefined])
    expect((await fetch(link)).status).toBe(404)
  })

  test('signs one in when its button is pressed many times at once', async () => {
    const link = await mailedLink()
    const answers = await Promise.all(Array.from({ length: 8 }, () => press(link)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([303, ...Array(7).fill(404)])
    expect(answers.filter((answer) => sessionCookieOf(answer))).toHaveLength(1)
  })

  test('takes no button of another site', async () => {
    const link = await mailedLink()
    const refusals = [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]
    for (const headers of refusals) expect((await press(link, headers)).status).toBe(403)
    expect((await press(link)).status).toBe(303)
  })

  test('does not open elsewhere: under another tenant, as a welcome link, altered, expired', async () => {
    const link = await mailedLink()
    const expired = new URL(link)
    const wrong = [
      link.replace('/acme/', '/globex/'),
      link.replace('/acme/', '/nowhere/'),
      link.replace('/sign-in/link/', '/welcome/'),
      link.slice(0, -1),
    ]
    const pages = new Set<string>()
    for (const url of wrong) {
      for (const answer of [await fetch(url), await press(url)]) {
        expect([url, answer.status]).toEqual([url, 404])
        pages.add(await answer.text())
      }
    }
    await lab.age('acme', '24 hours')
    for (const answer of [await fetch(expired), await press(link)]) {
      expect(answer.status).toBe(404)
      pages.add(await answer.text())
    }
    expect(pages.size).toBe(1)
    expect([...pages][0]).toContain('This link does not open')
  })
})

describe('who may not sign in by it', () => {
  const refusals = async () =>
    (await eventsOf(lab.hub.test.database, 'acme')).filter(({ event_kind }) => event_kind === 'auth.login_failed')

  test('a person who was deactivated since; the tenant is told, without an address', async () => {
    const lee = await lab.add('acme', 'lee@acme.example')
    const link = await mailedLink('lee@acme.example')
    await lab.deactivate('acme', lee)
    expect((await press(link)).status).toBe(404)
    await lab.hub.modules.denials.settled()
    const events = await refusals()
    const expected = { subject: 'tenant:acme', details: { reason: 'deactivated', method: 'magic_link' } }
    expect(events.filter(({ details }) => details.reason === 'deactivated')).toMatchObject([expected])
    expect(JSON.stringify(events)).not.toContain('lee@')
  })

  test('a member once the tenant has single sign-on: neither by an earlier link, nor by a new one; administrators may', async () => {
    await lab.add('acme', 'root@acme.example', 'admin')
    const earlier = await mailedLink()
    const superuser = await lab.hub.superuserClient()
    await superuser.query(
      `insert into hub.sso_connections (tenant_id, connection_id, issuer, client_id, client_secret_sealed,
         allowed_email_domains, created_at, updated_at)
       values ('acme', 'sso_1', 'https://idp.example', 'hub', '', '{acme.example}', now(), now())`,
    )
    try {
      expect((await press(earlier)).status).toBe(404)
      await lab.age('acme', '2 minutes')
      const count = lab.mail.received.length
      await lab.request({ email, tenant: 'acme' })
      await lab.decided()
      expect(lab.mail.received).toHaveLength(count)
      const link = await mailedLink('root@acme.example')
      expect(await whoIsSignedIn(lab.hub, await press(link))).toMatchObject({ role: 'admin' })
    } finally {
      await superuser.query(`delete from hub.sso_connections where tenant_id = 'acme'`)
    }
    expect((await press(earlier)).status).toBe(303)
  })
})

test('signing in is an event about the person, and the log names neither address nor token', async () => {
  const link = await mailedLink()
  await press(link)
  const events = await eventsOf(lab.hub.test.database, 'acme')
  const login = events.findLast(({ event_kind }) => event_kind === 'auth.login')
  expect(login).toMatchObject({ subject: `user:${kim}`, details: { method: 'magic_link' } })
  const log = lab.hub.logLines.join('\n')
  expect(log).toContain('/sign-in/link/:tenant/:token')
  expect(log).not.toContain(link.split('/').at(-1))
  expect(log).not.toContain('@acme.example')
  expect(log).not.toContain('"level":50')
})

test('whom the tenant was created for gets a link before anyone has signed in, and becomes the administrator', async () => {
  const count = lab.mail.received.length
  expect((await lab.request({ email: 'Admin@Globex.example', tenant: 'globex' })).status).toBe(202)
  const response = await press(await lab.linkAfter(count))
  expect(lab.mail.received.at(-1)!.to).toEqual(['admin@globex.example'])
  expect(await whoIsSignedIn(lab.hub, response)).toMatchObject({ tenant: 'globex', role: 'admin' })
})
