import type { FastifyReply } from 'fastify'
import type { Config } from '../config.ts'

/** Features that no page uses. Disabling them denies them to injected code too. */
const unusedFeatures = ['camera', 'display-capture', 'geolocation', 'microphone', 'midi', 'payment', 'usb']

/**
 * Headers of every response. Nothing is cached, run, sniffed, framed or referred; windows and pages of other sites get
 * no access. CORS exists only for the web UI at another host (see cors.ts). Pages relax what they need in {@link
 * pageHeaders}, public documents in {@link openToEveryOrigin}.
 */
export const apiHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': unusedFeatures.map((feature) => `${feature}=()`).join(', '),
}

/** One year, for services that are reached only by https: all except those on the own machine. */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' }

/** Returns {@link apiHeaders} with the headers that depend on the environment. */
export function headersOfEveryResponse(environment: Config['environment']): Readonly<Record<string, string>> {
  return environment === 'development' ? apiHeaders : { ...apiHeaders, ...strictTransport }
}

/** Lets pages of any origin read public keys and metadata, and cache them for a while. */
export function openToEveryOrigin(reply: FastifyReply, maxAgeSeconds: number): void {
  reply.headers({
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    // A web UI at another host is already named: calls with cookies do not accept an asterisk.
    'access-control-allow-origin': reply.getHeader('access-control-allow-origin') ?? '*',
    'cross-origin-resource-policy': 'cross-origin',
  })
}

/** The needs of a page beyond its own style sheet. */
export interface PageNeeds {
  /** The hash of its style sheet, as `sha256-…`. */
  styleHash: string
  /** The hash of its script. */
  scriptHash?: string | undefined
  /** Whether it has a form, whose action is on this host. */
  hasForm?: boolean | undefined
  /** The final target of the form, as an address or a path of this host. Never text of a stranger that was not parsed. */
  formLeadsTo?: string | undefined
  /** Whether nobody may store it, such as a page behind a secret address. */
  noStore?: boolean | undefined
}

/**
 * Returns the headers of a page. Nothing is loaded; the only style sheet, and the script if any, are named by their
 * hashes, and no script can turn text into markup or code (Trusted Types). A form needs a referrer policy that reveals
 * the own origin: under `no-referrer` browsers send forms with `Origin: null` (Fetch, section 3.2). The path is never
 * revealed, because it may be a secret.
 */
export function pageHeaders({
  styleHash,
  scriptHash,
  hasForm,
  formLeadsTo,
  noStore,
}: PageNeeds): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    ...(scriptHash === undefined ? [] : [`script-src '${scriptHash}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    `form-action ${hasForm ? `'self'${otherOrigin(formLeadsTo)}` : "'none'"}`,
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'cache-control': noStore ? 'no-store' : 'no-cache',
    'content-security-policy': policy.join('; '),
    'referrer-policy': hasForm || scriptHash !== undefined ? 'strict-origin' : 'no-referrer',
  }
}

/**
 * Returns the origin to allow. Browsers apply `form-action` to the target of a redirect as well (CSP 3, section 6.4.1).
 */
function otherOrigin(address = ''): string {
  const { origin, hostname, protocol } = URL.parse(address) ?? {}
  if (origin === undefined) return ''
  // A source cannot name an IPv6 address (CSP 3, section 2.3.1).
  return hostname?.startsWith('[') ? ` ${protocol}` : ` ${origin}`
}
