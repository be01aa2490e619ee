import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import { html } from '../../http/page.ts'
import type { TabKey } from '../auth/auth-types.ts'

/** In the built page, where each answer has a nonce of its own; web/vite.config.ts writes it. */
const noncePlaceholder = '__CSP_NONCE__'

/** What the page may load and call. */
interface Reach {
  /** Of the API, where it is at another host than the page. */
  apiUrl: string | undefined
  /** Of the answer; files besides the page need none. */
  nonce?: string
}

/**
 * Scripts are files of this host only. Styles are, too; those that the component library makes carry the nonce. Images
 * may come from the page itself, as what is exported does.
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

/** 128 bits, as a policy and a page write them. */
export function freshNonce(): string {
  return randomBytes(16).toString('base64')
}

/** Values that the server writes into the built page for one answer. */
interface PageValues extends Required<Reach> {
  environment: Config['environment']
  /** Of the session whose cookie came with the request. */
  tabKey?: TabKey | undefined
}

/** Returns the built page with its nonce, and with what the UI has to know of the server before its first call. */
export function fillPage(built: string, { apiUrl, nonce, environment, tabKey }: PageValues): string {
  const metas = [
    ...(environment === 'development' ? [html`<meta name="hub-environment" content="${environment}">`] : []),
    ...(apiUrl === undefined ? [] : [html`<meta name="hub-api" content="${apiUrl}">`]),
    ...(tabKey === undefined ? [] : [html`<meta name="hub-session" content="${tabKey.sessionId} ${tabKey.key}">`]),
  ]
  const head = `${metas.map(({ text }) => text).join('')}</head>`
  return built.replaceAll(noncePlaceholder, nonce).replace('</head>', () => head)
}
