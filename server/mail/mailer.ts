import { createTransport } from 'nodemailer'
import { readSmtpUrl, type SmtpSettings } from '../config/smtp-url.ts'
import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'
import { MailDeliveryError } from './mail-delivery-error.ts'

/** A message in plain text and in HTML with the same content. */
export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The line that the console shows in development. */
  consoleLine: string
}

export interface Mailer {
  /** Whether mail can be delivered: by SMTP, or in development on the console. */
  readonly available: boolean
  /** Whether every message is listed on the console of this Hub, as in development. */
  readonly listed: boolean
  /** Throws {@link MailDeliveryError} if the server does not accept the message. */
  send(mail: Mail): Promise<void>
  close(): void
}

type MailConfig = Pick<Config, 'environment' | 'smtpUrl' | 'baseUrl'>

const senderName = 'Org-Memory Hub'
const timeouts = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/**
 * Creates the mailer. It sends by SMTP if that is configured. In development it also lists every message on the
 * console, and without SMTP only there.
 *
 * @param print writes a line on the console
 */
export function createMailer(
  config: MailConfig,
  log: DatabaseLog,
  print: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): Mailer {
  const smtp = config.smtpUrl === undefined ? undefined : smtpSender(readSmtpUrl(config.smtpUrl), config)
  const listed = config.environment === 'development'
  return {
    available: listed || smtp !== undefined,
    listed,
    async send(mail) {
      if (listed) print(mail.consoleLine.replaceAll(/\p{Cc}/gu, ' '))
      else if (!smtp) throw new MailDeliveryError('no mail server is configured', { permanent: true })
      await smtp?.send(mail)
      if (smtp) log.info({ subject: mail.subject }, 'mail sent')
    },
    close: () => smtp?.close(),
  }
}

function smtpSender(settings: SmtpSettings, config: Pick<Config, 'baseUrl'>) {
  const { host, port, secure, requireTls, auth } = settings
  const transport = createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(auth && { auth: { user: auth.user, pass: auth.pass } }),
    ...timeouts,
    // Messages are text of the Hub; nothing in one may make the mailer read a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const from = settings.from ?? { name: senderName, address: defaultSender(config.baseUrl) }
  return {
    async send({ to, subject, text, html }: Mail): Promise<void> {
      try {
        await transport.sendMail({
          from: { name: from.name || senderName, address: from.address },
          to: { name: '', address: to },
          subject,
          text,
          html,
          // RFC 3834, section 5: no out-of-office replies. Exchange reads the second header.
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        })
      } catch (error) {
        throw MailDeliveryError.because(error)
      }
    },
    close: () => transport.close(),
  }
}

/** Returns an address at the host of the service; an IP address becomes a literal (RFC 5321, section 4.1.3). */
function defaultSender(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  if (hostname.startsWith('[')) return `no-reply@[IPv6:${hostname.slice(1, -1)}]`
  return `no-reply@${/^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname}`
}
