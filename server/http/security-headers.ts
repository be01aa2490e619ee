import type { FastifyReply } from 'fastify'
import type { Config } from '../config.ts'

/** Nothing here uses them, so that what may be injected into a page cannot either, nor ask for them. */
const unusedFeatures = ['camera', 'display-capture', 'geolocation', 'microphone', 'midi', 'payment', 'usb']

/**
 * Headers of every answer. Nothing is cached, run, sniffed, framed or referred; windows and pages of other sites get
 * hold of nothing. No CORS but for the web UI at another host (see cors.ts): scripts of other sites stay out. Pages
 * loosen what they need in {@link pageHeaders}, public documents what others may read in {@link openToEveryOrigin}.
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

/** One year, for services that are reached by https only: all but those on the own machine. */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' }

/** {@link apiHeaders} of a service, with what depends on where it runs. */
export function headersOfEveryAnswer(environment: Config['environment']): Readonly<Record<string, string>> {
  return environment === 'development' ? apiHeaders : { ...apiHeaders, ...strictTransport }
}

/** Public keys and metadata may be read by pages of any origin, and kept for a while. */
export function openToEveryOrigin(reply: FastifyReply, maxAgeSeconds: number): void {
  reply.headers({
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    // The web UI at another host is named already: what is called with cookies may not be told by an asterisk.
    'access-control-allow-origin': reply.getHeader('access-control-allow-origin') ?? '*',
    'cross-origin-resource-policy': 'cross-origin',
  })
}

/** What a page needs beyond a style sheet of its own. */
export interface PageNeeds {
  /** Hash of its style sheet, as `sha256-…`. */
  styleHash: string
  /** Hash of its script. */
  scriptHash?: string | undefined
  /** It has a form, whose action is on this host. */
  hasForm?: boolean | undefined
  /** Where sending the form ends, as an address, or a path of this host. */
  formLeadsTo?: string | undefined
  /** Not to be kept anywhere, as a page behind a secret address. */
  noStore?: boolean | undefined
}

/**
 * Nothing is loaded; the one style sheet, and the script where there is one, are named by their hashes, and no script
 * can turn text into markup or code (Trusted Types). What is sent needs a referrer policy that tells the own origin:
 * under `no-referrer` browsers send forms with `Origin: null` (Fetch, section 3.2). The path is never told, for it may
 * be a secret.
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

/** Browsers hold `form-action` against what the answer redirects to as well (CSP 3, section 6.4.1). */
function otherOrigin(address = ''): string {
  const { origin } = URL.parse(address) ?? {}
  return origin === undefined ? '' : ` ${origin}`
}
