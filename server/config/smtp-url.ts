import { isEmail } from '../../contract/email-address.ts'

/** The settings in HUB_SMTP_URL. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /**
   * Whether TLS starts with the first byte (RFC 8314, section 3.3). Otherwise STARTTLS is used if the server offers it.
   */
  readonly secure: boolean
  /** Whether mail requires TLS. It is set for `?starttls=required`, or a password that leaves this machine. */
  readonly requireTls: boolean
  readonly auth: { readonly user: string; readonly pass: string } | undefined
  /** The sender, set by `?from=hub@example.com` or `?from=Name <hub@example.com>`. */
  readonly from: { readonly name: string; readonly address: string } | undefined
}

const defaultPorts: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 }
const parameters = ['from', 'starttls']

/**
 * Reads HUB_SMTP_URL.
 *
 * @throws Error whose message completes "HUB_SMTP_URL …" and does not repeat the URL: it may contain a password
 */
export function readSmtpUrl(text: string): SmtpSettings {
  const url = URL.parse(text)
  const defaultPort = defaultPorts[url?.protocol ?? '']
  if (!url || defaultPort === undefined) throw new Error('is not a URL that starts with smtp: or smtps:.')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === '') throw new Error('names no host.')
  if (url.pathname.length > 1 || url.hash !== '') throw new Error('has more than a host, a port and parameters.')
  const unknown = [...url.searchParams.keys()].filter((name) => !parameters.includes(name))
  if (unknown.length > 0) throw new Error(`has parameters other than ${parameters.join(' and ')}.`)
  const user = decoded(url.username)
  const pass = decoded(url.password)
  const secure = url.protocol === 'smtps:'
  return {
    host,
    port: url.port === '' ? defaultPort : Number(url.port),
    secure,
    requireTls: !secure && (isStartTlsRequired(url) || (pass !== '' && !isThisMachine(host))),
    auth: user === '' ? undefined : { user, pass },
    from: senderOf(url),
  }
}

function isStartTlsRequired(url: URL): boolean {
  const value = url.searchParams.get('starttls')
  if (value === null) return false
  if (value !== 'required') throw new Error('has the parameter starttls with another value than required.')
  return true
}

function senderOf(url: URL): SmtpSettings['from'] {
  const text = url.searchParams.get('from')
  if (text === null) return undefined
  const [, name = '', inBrackets, alone] = /^\s*(?:([^<>]*?)\s*<([^<>]+)>|([^<>]+?))\s*$/.exec(text) ?? []
  const address = inBrackets ?? alone ?? ''
  if (!isEmail(address) || /\p{Cc}/u.test(name)) throw new Error('has the parameter from without an e-mail address.')
  return { name, address }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('has a user name or password that is not percent-encoded.')
  }
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
