import { readSmtpUrl, type SmtpSettings } from '../config/smtp-url.ts'
import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'

/** A message in plain text and in HTML with the same content. */
export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The line that the console shows in development. */
  consoleLine: string
}

const senderName = 'Org-Memory Hub'
const timeouts = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/**
 * Sends mail by SMTP if that is configured. In development it also lists every message on the console, and without SMTP
 * only there.
 */
export class Mailer {
  /** Whether mail can be delivered: by SMTP, or in development on the console. */
  readonly available: boolean
  /** Whether a mail server is configured. */
  readonly hasServer: boolean
  /** Whether every message is listed on the console of this Hub, as in development. */
  readonly listed: boolean
  readonly #smtp: ReturnType<typeof smtpSender> | undefined
  readonly #log: DatabaseLog
  readonly #print: (line: string) => void

  /** @param print writes a line on the console */
  constructor(
    config: Pick<Config, 'environment' | 'smtpUrl' | 'baseUrl'>,
    log: DatabaseLog,
    print = (line: string) => void process.stdout.write(`${line}\n`),
  ) {
    this.#smtp = config.smtpUrl === undefined ? undefined : smtpSender(readSmtpUrl(config.smtpUrl), config)
    this.listed = config.environment === 'development'
    this.hasServer = this.#smtp !== undefined
    this.available = this.listed || this.hasServer
    this.#log = log
    this.#print = print
  }

  /** Throws {@link MailDeliveryError} if the server does not accept the message. */
  async send(mail: Mail): Promise<void> {
    if (this.listed) this.#print(mail.consoleLine.replaceAll(/\p{Cc}/gu, ' '))
    else if (!this.#smtp) throw new MailDeliveryError('no mail server is configured', { permanent: true })
    await this.#smtp?.send(mail)
    if (this.#smtp) this.#log.info({ subject: mail.subject }, 'mail sent')
  }

  close(): void {
    this.#smtp?.close()
  }
}

/** Loads the library here, because most commands send no mail. */
async function openTransport({ host, port, secure, requireTls, auth }: SmtpSettings) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
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
}

/**
 * Connects to the server of HUB_SMTP_URL and signs in. Sends nothing.
 *
 * @throws MailDeliveryError if that fails
 */
export async function checkMailServer(smtpUrl: string): Promise<void> {
  const transport = await openTransport(readSmtpUrl(smtpUrl))
  try {
    await transport.verify()
  } catch (error) {
    throw MailDeliveryError.because(error)
  } finally {
    transport.close()
  }
}

function smtpSender(settings: SmtpSettings, config: Pick<Config, 'baseUrl'>) {
  let opening: ReturnType<typeof openTransport> | undefined
  const from = settings.from ?? { name: senderName, address: defaultSender(config.baseUrl) }
  return {
    async send({ to, subject, text, html }: Mail): Promise<void> {
      try {
        opening ??= openTransport(settings)
        const transport = await opening
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
    close: () => void opening?.then((transport) => transport.close()),
  }
}

/** Returns an address at the host of the service; an IP address becomes a literal (RFC 5321, section 4.1.3). */
function defaultSender(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  if (hostname.startsWith('[')) return `no-reply@[IPv6:${hostname.slice(1, -1)}]`
  return `no-reply@${/^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname}`
}

/**
 * A message that the mail server did not accept. It names the codes, not the server's text: that text often repeats the
 * recipient, and errors are logged and stored with jobs.
 */
export class MailDeliveryError extends Error {
  override readonly name = 'MailDeliveryError'
  /**
   * Whether the server will never accept it (a 5xx reply about the recipient or the message), so a retry is useless.
   */
  readonly permanent: boolean

  constructor(why: string, options: { permanent: boolean }) {
    super(`Mail was not sent: ${why}.`)
    this.permanent = options.permanent
  }

  static because(error: unknown): MailDeliveryError {
    const { code, responseCode, command } = error as { code?: unknown; responseCode?: unknown; command?: unknown }
    const words = [code, command, responseCode].filter((word) => /^[A-Z0-9 _-]{1,40}$/.test(String(word ?? '')))
    // A 5xx reply to a login or a greeting concerns the configuration, which an operator may correct.
    const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
    return new MailDeliveryError(words.length > 0 ? words.join(', ') : 'the connection failed', {
      permanent: isAboutMessage && Number(responseCode) >= 500,
    })
  }
}
