import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type LinkLab, startLinkLab } from '../auth/link-lab.ts'
import { startHub } from '../support/hub.ts'

const email = 'kim@acme.example'
const path = '/api/v1/auth/magic-link'

let lab: LinkLab
beforeAll(async () => {
  lab = await startLinkLab()
  await lab.add('acme', email)
})
afterAll(() => lab.stop())

/** Everything of an answer that a caller sees, but what differs from one request to the next anyway. */
async function seen(response: Response) {
  const headers = Object.fromEntries(response.headers)
  for (const name of ['date', 'x-service-request-id', 'keep-alive', 'ratelimit']) delete headers[name]
  return { status: response.status, headers, body: await response.text() }
}

test('a known person gets a message; the answer is the same for everyone else', async () => {
  const known = await seen(await lab.request({ email, tenant: 'acme' }))
  expect(known.status).toBe(202)
  expect(JSON.parse(known.body)).toEqual({ status: 'accepted', detail: expect.stringContaining('24 hours') })
  expect((await lab.mail.next()).to).toEqual([email])
  const others = [
    { email: 'nobody@acme.example', tenant: 'acme' },
    { email, tenant: 'globex' },
    { email, tenant: 'nowhere' },
  ]
  for (const body of others) expect(await seen(await lab.request(body))).toEqual(known)
  await lab.decided()
  expect(lab.mail.received).toHaveLength(1)
})

test.each([
  [{}, ['/email', '/tenant']],
  [{ email, tenant: '' }, ['/tenant']],
  [{ email: 'kim', tenant: 'acme' }, ['/email']],
  [{ email: 'kim@acme.example\r\nBcc: eve@evil.example', tenant: 'acme' }, ['/email']],
  [{ email: 'a@b.example, c@d.example', tenant: 'acme' }, ['/email']],
  [{ email: 'kim@acme.example/x', tenant: 'acme' }, ['/email']],
  [{ email: `${'x'.repeat(255)}@b.example`, tenant: 'acme' }, ['/email']],
  [{ email, tenant: 'acme', purpose: 'welcome' }, ['/purpose']],
  [{ email: [email], tenant: 7 }, ['/email', '/tenant']],
])('%j is a bad request at %j', async (body, pointers) => {
  const response = await lab.request(body)
  const problem = (await response.json()) as { type: string; errors: { pointer: string }[] }
  expect([response.status, problem.type.split('/').at(-1)]).toEqual([400, 'validation-failed'])
  expect(problem.errors.map(({ pointer }) => pointer).sort()).toEqual(pointers)
})

test('another site cannot ask, and neither can a form', async () => {
  const refused = await lab.request({ email, tenant: 'acme' }, { origin: 'https://evil.example' })
  expect([refused.status, ((await refused.json()) as { type: string }).type.split('/').at(-1)]).toEqual([
    403,
    'cross-site-request',
  ])
  const form = new URLSearchParams({ email, tenant: 'acme' })
  expect((await fetch(`${lab.hub.baseUrl}${path}`, { method: 'POST', body: form })).status).toBe(415)
  expect((await fetch(`${lab.hub.baseUrl}${path}`)).status).toBe(405)
})

test('neither a token nor a tenant header changes anything', async () => {
  const answer = await lab.hub.call('globex', 'POST', path, { body: { email, tenant: 'acme' } })
  expect(answer.status).toBe(202)
})

test('requests are counted by where they come from, and no tenant is charged', async () => {
  const limited = await startLinkLab({ HUB_LIMIT_FACTOR: '0.05' })
  try {
    const statuses: number[] = []
    // One for each of them: 0.05 of the 10 for address and mailbox, rounded up, and 5 for all mailboxes together.
    expect((await limited.request({ email, tenant: 'acme' })).status).toBe(202)
    expect((await limited.request({ email, tenant: 'acme' })).status).toBe(429)
    for (let i = 0; i < 6; i += 1) {
      statuses.push((await limited.request({ email: `kim${i}@acme.example`, tenant: 'acme' })).status)
    }
    expect(statuses).toEqual([202, 202, 202, 202, 429, 429])
    const refused = await limited.request({ email: 'lee@acme.example', tenant: 'globex' })
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
    // Whoever has a credential is let in all the same.
    expect(await limited.hub.token('acme')).toMatch(/^ey/)
  } finally {
    await limited.stop()
  }
})

describe('without a mail server', () => {
  test.each([
    { HUB_ENV: 'staging' },
    { HUB_ENV: 'production', HUB_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
  ])('in %j it is unavailable, whatever the address', async (settings) => {
    const hub = await startHub({ settings: { HUB_BASE_URL: 'https://hub.example.com', ...settings } })
    try {
      const bodies = new Set<string>()
      for (const tenant of ['acme', 'nowhere']) {
        const answer = await hub.call('acme', 'POST', path, {
          token: null,
          body: { email: 'admin@acme.example', tenant },
        })
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2'])
        const { instance: _, ...rest } = answer.body
        bodies.add(JSON.stringify(rest))
      }
      expect(bodies.size).toBe(1)
      expect([...bodies][0]).toMatch(/hub-unavailable.*Mail is not configured/)
      const warnings = hub.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40)
      expect(warnings.map(({ msg, err }) => [msg, err])).toEqual([[expect.stringContaining('HUB_SMTP_URL'), undefined]])
    } finally {
      await hub.stop()
    }
  })

  test('in development the link is listed on the console', async () => {
    const listed = Promise.withResolvers<string>()
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      listed.resolve(String(text))
      return true
    })
    const hub = await startHub()
    try {
      await hub.call('acme', 'POST', '/api/v1/roster/users', { body: { email } })
      const answer = await hub.call('acme', 'POST', path, { token: null, body: { email, tenant: 'acme' } })
      expect(answer.status).toBe(202)
      const line = await listed.promise
      const link = /^Sign-in link for kim@acme\.example \(acme\): (\S+)\n$/.exec(line)?.[1]
      expect(link).toMatch(new RegExp(`^${hub.baseUrl}/sign-in/link/acme/`))
      expect((await fetch(link as string)).status).toBe(200)
    } finally {
      write.mockRestore()
      await hub.stop()
    }
  })
})
