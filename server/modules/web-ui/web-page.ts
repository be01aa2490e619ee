import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import { html } from '../../http/page.ts'
import type { TabKey } from '../auth/auth-types.ts'

/** Placeholder in the built page for the nonce of each response; web/vite.config.ts writes it. */
const noncePlaceholder = '__CSP_NONCE__'

/** The address the page may call, and the nonce of its styles. */
interface Reach {
  /** Address of the API if its host differs from that of the page. */
  apiUrl: string | undefined
  /** Nonce of the response; files other than the page need none. */
  nonce?: string
}

/**
 * Returns the content security policy. Scripts must be files of this host. Styles too, except those of the component
 * library, which carry the nonce. The page may also create images itself (`data:`, `blob:`), as exports do.
 */
export function webPolicy({ apiUrl, nonce }: Reach): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${apiUrl === undefined ? '' : ` ${apiUrl}`}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Returns 128 random bits in base64. */
export function freshNonce(): string {
  return randomBytes(16).toString('base64')
}

/** Values that the server writes into the built page for one response. */
interface PageValues extends Required<Reach> {
  environment: Config['environment']
  /** Tab key of the session whose cookie the request has. */
  tabKey?: TabKey | undefined
}

/** Returns the built page with its nonce and the server values that the UI needs before its first call. */
export function fillPage(built: string, { apiUrl, nonce, environment, tabKey }: PageValues): string {
  const metas = [
    ...(environment === 'development' ? [html`<meta name="hub-environment" content="${environment}">`] : []),
    ...(apiUrl === undefined ? [] : [html`<meta name="hub-api" content="${apiUrl}">`]),
    ...(tabKey === undefined ? [] : [html`<meta name="hub-session" content="${tabKey.sessionId} ${tabKey.key}">`]),
  ]
  const head = `${metas.map(({ text }) => text).join('')}</head>`
  return built.replaceAll(noncePlaceholder, nonce).replace('</head>', () => head)
}
