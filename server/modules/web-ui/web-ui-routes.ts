import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formerPages, webPages } from '../../../contract/web-paths.ts'
import type { Config } from '../../config.ts'
import { peekCookie } from '../../http/cookies.ts'
import { sendPage } from '../../http/page.ts'
import type { Sessions } from '../auth/auth-types.ts'
import { unbuiltPage } from './unbuilt-page.ts'
import { fillPage, freshNonce, webPolicy } from './web-page.ts'

export interface WebUiParts {
  /** Absolute path of the folder that web/build.ts writes. It may appear and change while the service runs. */
  dist: string
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
export function addWebUiRoutes(app: FastifyInstance, { dist, reason, apiUrl, tabKey, environment }: WebUiParts): void {
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
}

interface Caching {
  /** Milliseconds. */
  maxAge: number
  immutable: boolean
}
