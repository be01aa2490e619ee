import { EventEmitter, on } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { localhostCertificate, localhostKey } from './localhost-certificate.ts'
import { scaled } from './machine-speed.ts'

/** A message as it came over SMTP. */
export interface ReceivedMail {
  /** Of the envelope. */
  from: string
  to: string[]
  /** Whether the connection was encrypted. */
  secure: boolean
  user: string | undefined
  raw: string
  message: Email
}

/** A real SMTP server on a port of its own, which keeps what it gets. */
export interface MailServer {
  /** For HUB_SMTP_URL. */
  url: string
  received: ReceivedMail[]
  /** The message that comes next after the first `count`, waiting for it if need be. */
  next(count?: number): Promise<ReceivedMail>
  /** Refuses the next so many recipients with this code: 4xx is for now, 5xx for good. */
  refuse(times: number, code: number): void
  /** How many recipients it has refused. */
  refused(): number
  close(): Promise<void>
}

export interface MailServerOptions {
  /** STARTTLS offered, or TLS from the first byte; by default neither. Its certificate is `localhostCertificate`. */
  tls?: 'starttls' | 'implicit'
  login?: { user: string; pass: string }
}

/** 30 s, after which a message that is waited for is taken not to come. */
const patienceMs = scaled(30_000)

export async function startMailServer({ tls, login }: MailServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const arrivals = new EventEmitter()
  let refusals = { times: 0, code: 0, done: 0 }
  const server = new SMTPServer({
    secure: tls === 'implicit',
    key: localhostKey,
    cert: localhostCertificate,
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])],
    authOptional: login === undefined,
    logger: false,
    onAuth: ({ username, password }, _session, done) => {
      if (username === login?.user && password === login?.pass) done(null, { user: username })
      else done(new Error('wrong user or password'))
    },
    onRcptTo: ({ address }, _session, done) => {
      if (refusals.times === 0) return done()
      refusals = { ...refusals, times: refusals.times - 1, done: refusals.done + 1 }
      // Servers like to repeat the address.
      done(Object.assign(new Error(`not now, <${address}>`), { responseCode: refusals.code }))
    },
    onData: async (stream, session, done) => {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk as Buffer)
      const raw = Buffer.concat(chunks).toString()
      const { mailFrom, rcptTo } = session.envelope
      received.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map((recipient) => recipient.address),
        secure: session.secure,
        user: session.user as unknown as string | undefined,
        raw,
        message: await PostalMime.parse(raw),
      })
      done()
      arrivals.emit('mail')
    },
  })
  // A client that hangs up, as one that does not trust the certificate, is no failure of the server.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const credentials = login ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@` : ''

  return {
    url: `${tls === 'implicit' ? 'smtps' : 'smtp'}://${credentials}127.0.0.1:${port}`,
    received,
    async next(count = 0) {
      const arrived = on(arrivals, 'mail', { signal: AbortSignal.timeout(patienceMs) })
      while (received.length <= count) await arrived.next()
      await arrived.return?.()
      return received[count] as ReceivedMail
    },
    refuse: (times, code) => {
      refusals = { times, code, done: 0 }
    },
    refused: () => refusals.done,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
