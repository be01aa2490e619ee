import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { type Mail, MailDeliveryError, Mailer } from '../../server/mail/mailer.ts'
import { localhostCertificate } from '../support/localhost-certificate.ts'
import { type MailServer, type MailServerOptions, startMailServer } from '../support/mail-server.ts'

const mail: Mail = {
  to: 'kim@example.com',
  subject: 'Sign in to acme',
  text: `Sign in: https://hub.example.com/${'x'.repeat(200)}\n`,
  html: `<p><a href="https://hub.example.com/${'x'.repeat(200)}">Sign in</a></p>\n`,
  consoleLine: 'Sign-in link for kim@example.com (acme): https://hub.example.com/x',
}

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

interface Lab {
  server: MailServer
  mailer: Mailer
  printed: string[]
  logged: string[]
}

async function lab(
  options: MailServerOptions & { environment?: 'development' | 'staging'; query?: string; url?: string } = {},
): Promise<Lab> {
  const server = await startMailServer(options)
  const printed: string[] = []
  const logged: string[] = []
  const keep = (details: object, message: string) => void logged.push(`${JSON.stringify(details)} ${message}`)
  const mailer = new Mailer(
    {
      environment: options.environment ?? 'staging',
      smtpUrl: `${options.url ?? server.url}${options.query ?? ''}`,
      baseUrl: 'https://hub.example.com',
    },
    { info: keep, warn: keep, error: keep },
    (line) => void printed.push(line),
  )
  open.push(mailer, server)
  return { server, mailer, printed, logged }
}

async function failureOf(sending: Promise<void>): Promise<MailDeliveryError> {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof MailDeliveryError)) throw new Error(`not refused: ${error}`)
  return error
}

describe('a message', () => {
  test('arrives with both parts, from the host of the service, marked as sent by a program', async () => {
    const { server, mailer, printed } = await lab()
    await mailer.send(mail)
    const { from, to, message, raw } = await server.next()
    expect([from, to]).toEqual(['no-reply@hub.example.com', ['kim@example.com']])
    expect(message.from).toMatchObject({ name: 'Org-Memory Hub', address: 'no-reply@hub.example.com' })
    expect(message.to).toMatchObject([{ address: 'kim@example.com' }])
    expect(message.subject).toBe('Sign in to acme')
    expect([message.text?.trimEnd(), message.html?.trimEnd()]).toEqual([mail.text.trimEnd(), mail.html.trimEnd()])
    expect(raw).toMatch(/^Content-Type: multipart\/alternative/im)
    const headers = Object.fromEntries(message.headers.map(({ key, value }) => [key, value]))
    expect(headers).toMatchObject({ 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' })
    expect(message.messageId).toMatch(/@hub\.example\.com>$/)
    expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true)
    expect(printed).toEqual([])
  })

  test('is from whom the address of the server says', async () => {
    const { server, mailer } = await lab({ query: '?from=Memory%20of%20ACME%20%3Chub@acme.example%3E' })
    await mailer.send(mail)
    const { from, message } = await server.next()
    expect(from).toBe('hub@acme.example')
    expect(message.from).toMatchObject({ name: 'Memory of ACME', address: 'hub@acme.example' })
  })

  test.each([
    { subject: 'Sign in\r\nBcc: eve@evil.example' },
    { to: 'kim@example.com\r\nBcc: eve@evil.example' },
    { to: 'kim@example.com, eve@evil.example' },
    { to: 'Kim <kim@example.com>, <eve@evil.example>' },
  ])('that tries to add a header or a recipient adds none: %j', async (changed) => {
    const { server, mailer } = await lab()
    await mailer.send({ ...mail, ...changed }).catch(() => {})
    if (!('to' in changed)) expect(server.received).toHaveLength(1)
    for (const { to, message } of server.received) {
      expect(to).not.toContain('eve@evil.example')
      expect(to).toHaveLength(1)
      expect(message.headers.map(({ key }) => key)).not.toContain('bcc')
    }
  })

  test('names nobody in the log', async () => {
    const { mailer, logged } = await lab()
    await mailer.send(mail)
    expect(logged).toEqual(['{"subject":"Sign in to acme"} mail sent'])
  })
})

describe('on the console', () => {
  test('it is listed in development, besides being sent', async () => {
    const { server, mailer, printed } = await lab({ environment: 'development' })
    await mailer.send(mail)
    expect((await server.next()).to).toEqual(['kim@example.com'])
    expect(printed).toEqual([mail.consoleLine])
  })

  test('it is listed in development alone where there is no server, on one line', async () => {
    const printed: string[] = []
    const log = { info() {}, warn() {}, error() {} }
    const config = { environment: 'development', smtpUrl: undefined, baseUrl: 'http://127.0.0.1:8080' } as const
    const mailer = new Mailer(config, log, (line) => void printed.push(line))
    expect(mailer.available).toBe(true)
    await mailer.send({ ...mail, consoleLine: 'one\r\n\u001b[2Jtwo' })
    expect(printed).toEqual(['one   [2Jtwo'])
  })

  test.each(['staging', 'production'] as const)(
    'nothing is listed in %s, and mail is not available',
    async (environment) => {
      const printed: string[] = []
      const config = { environment, smtpUrl: undefined, baseUrl: 'https://hub.example.com' }
      const mailer = new Mailer(config, { info() {}, warn() {}, error() {} }, (line) => void printed.push(line))
      expect(mailer.available).toBe(false)
      expect((await failureOf(mailer.send(mail))).permanent).toBe(true)
      expect(printed).toEqual([])
    },
  )
})

describe('a server that does not take it', () => {
  test.each([
    [451, false],
    [550, true],
  ])('with %i is told in codes, without the address, and as permanent %s', async (code, permanent) => {
    const { server, mailer } = await lab()
    server.refuse(1, code)
    const error = await failureOf(mailer.send(mail))
    expect(error.permanent).toBe(permanent)
    expect(error.message).toContain(String(code))
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('kim@')
    await mailer.send(mail)
    expect(server.received).toHaveLength(1)
  })

  test('because it is away is one to try again', async () => {
    const { server, mailer } = await lab()
    await server.close()
    open.pop()
    expect((await failureOf(mailer.send(mail))).permanent).toBe(false)
  })
})

describe('encryption', () => {
  const trusted = getCACertificates('default')
  afterEach(() => setDefaultCACertificates(trusted))
  const trustServer = () => setDefaultCACertificates([...trusted, localhostCertificate])

  test('is used where the server offers STARTTLS', async () => {
    trustServer()
    const { server, mailer } = await lab({ tls: 'starttls' })
    await mailer.send(mail)
    expect((await server.next()).secure).toBe(true)
  })

  test('is used from the first byte with smtps, and then the login is sent', async () => {
    trustServer()
    const { server, mailer } = await lab({ tls: 'implicit', login: { user: 'hub@acme', pass: 'p:a/ss%' } })
    await mailer.send(mail)
    expect(await server.next()).toMatchObject({ secure: true, user: 'hub@acme' })
  })

  test('is not used with a server that nobody vouches for: nothing is sent', async () => {
    const { server, mailer } = await lab({ tls: 'starttls' })
    expect((await failureOf(mailer.send(mail))).permanent).toBe(false)
    expect(server.received).toEqual([])
  })

  test('can be required: nothing is sent in clear then', async () => {
    const { server, mailer } = await lab({ query: '?starttls=required' })
    await failureOf(mailer.send(mail))
    expect(server.received).toEqual([])
  })
})
