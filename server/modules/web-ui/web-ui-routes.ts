import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formerPages, webPages } from '../../../contract/web-paths.ts'
import type { Config } from '../../config.ts'
import { peekCookie } from '../../http/cookies.ts'
import { html, type Page, sendPage } from '../../http/page.ts'
import type { Sessions, TabKey } from '../auth/auth-types.ts'
import { addDocsRoutes } from './docs-routes.ts'

export interface WebUiParts {
  /** Absolute path of the folder that web/build.ts writes. It may appear and change while the service runs. */
  dist: string
  /** Absolute path of the folder that docs/.vitepress/build.ts writes. */
  docs: string
  /** The reason why the build failed, if it may be public. */
  reason: string | undefined
  /** Returns the address of the API for pages of the common address, if its host differs. */
  apiUrl: () => string | undefined
  tabKey: Sessions['tabKey']
  environment: Config['environment']
}

/** Files of `web/public`. Their names are stable, so browsers revalidate them after a while. */
export const publicFiles = ['icon.svg', 'color-scheme.js']
const publicFileSeconds = 3600
const assetSeconds = 365 * 24 * 3600
/** Matches the names that the build writes: one folder, plain names. */
const assetName = /^[\w-]+(\.[\w-]+)+$/
const compressedName = /\.(br|gz)$/

/** Adds the page of the web UI at all its paths, and its files. */
export function addWebUiRoutes(
  app: FastifyInstance,
  { dist, docs, reason, apiUrl, tabKey, environment }: WebUiParts,
): void {
  // Provides `reply.sendFile` only: files without a route are not served.
  app.register(fastifyStatic, { root: dist, serve: false, preCompressed: true, suppressWarning: true })
  const config = { page: true as const }
  const apiUrlOf = (request: FastifyRequest) => (request.hostTenant === null ? apiUrl() : undefined)

  /** Returns the tab key. Without one the page requests a token, so a failure here must not prevent the page. */
  const tabKeyOf = async (request: FastifyRequest) => {
    const sessionToken = peekCookie(request, 'session')
    return sessionToken === undefined ? undefined : tabKey(sessionToken).catch(() => undefined)
  }

  /** Returns the page and sets its headers; undefined if the UI is not built. */
  const filledPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const built = await readFile(join(dist, 'index.html'), 'utf8').catch(() => undefined)
    if (built === undefined) return undefined
    const reach = { apiUrl: apiUrlOf(request), nonce: freshNonce() }
    const key = await tabKeyOf(request)
    reply.type('text/html; charset=utf-8').headers({
      // The key of a session must not enter the browser's cache.
      'cache-control': key === undefined ? 'no-cache' : 'no-store',
      'content-security-policy': webPolicy(reach),
      'referrer-policy': 'strict-origin',
    })
    return fillPage(built, { ...reach, environment, tabKey: key })
  }

  const sendWebPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const page = await filledPage(request, reply)
    return page === undefined ? sendPage(unbuiltPage(reason), reply) : reply.send(page)
  }

  // The router of the UI knows which addresses are unknown, and reports that on its own page.
  app.notFoundPage = filledPage

  const sendFile = (request: FastifyRequest, reply: FastifyReply, name: string, caching: Caching) => {
    // A worker has the policy of its script.
    reply.header('content-security-policy', webPolicy({ apiUrl: apiUrlOf(request) }))
    return reply.sendFile(name, { ...caching, acceptRanges: false, lastModified: false, index: false })
  }

  for (const page of Object.values(webPages)) {
    const path = page.replaceAll('$', ':')
    app.get(path, { config }, sendWebPage)
    if (path !== '/') app.get(`${path}/`, { config }, sendWebPage)
  }
  for (const [former, page] of Object.entries(formerPages)) {
    app.get(former, { config }, (request, reply) => reply.redirect(request.url.replace(former, page), 308))
  }
  for (const name of publicFiles) {
    app.get(`/${name}`, { config }, (request, reply) =>
      sendFile(request, reply, name, { maxAge: publicFileSeconds * 1000, immutable: false }),
    )
  }
  app.get('/assets/*', { config }, (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    if (!assetName.test(name) || compressedName.test(name)) return reply.callNotFound()
    return sendFile(request, reply, `assets/${name}`, { maxAge: assetSeconds * 1000, immutable: true })
  })
  addDocsRoutes(app, docs)
}

interface Caching {
  /** Milliseconds. */
  maxAge: number
  immutable: boolean
}

/** Renders the page shown while the web UI is not built. `reason` is for readers who may see the service's log. */
function unbuiltPage(reason: string | undefined): Page {
  const why =
    reason === undefined
      ? html`<p>It is built when the Hub is installed or started, and that failed; the Hub's log states the reason.</p>`
      : html`<p>It is built when the Hub is installed or started, and that failed:</p><pre tabindex="0">${reason}</pre>`
  const body = html`<h1>The web UI is not built</h1>
${why}
<p>To build it, run this command in the Hub's folder. A restart is not required:</p>
<pre tabindex="0">npm run build</pre>
<p>Everything else works: the <a href="/reference">API</a>, <a href="/sign-in">signing in</a> and
<a href="/session">your session</a>.</p>`
  return { title: 'The web UI is not built', body, status: 503, noStore: true }
}

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
function webPolicy({ apiUrl, nonce }: Reach): string {
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
function freshNonce(): string {
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
  const metaTags = [
    ...(environment === 'development' ? [html`<meta name="hub-environment" content="${environment}">`] : []),
    ...(apiUrl === undefined ? [] : [html`<meta name="hub-api" content="${apiUrl}">`]),
    ...(tabKey === undefined ? [] : [html`<meta name="hub-session" content="${tabKey.sessionId} ${tabKey.key}">`]),
  ]
  const head = `${metaTags.map(({ text }) => text).join('')}</head>`
  return built.replaceAll(noncePlaceholder, nonce).replace('</head>', () => head)
}
