import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { webPages } from '../../../contract/web-paths.ts'
import type { Config } from '../../config.ts'
import { peekCookie } from '../../http/cookies.ts'
import { sendPage } from '../../http/page.ts'
import type { Sessions } from '../auth/auth-types.ts'
import { unbuiltPage } from './unbuilt-page.ts'
import { fillPage, freshNonce, webPolicy } from './web-page.ts'

export interface WebUiParts {
  /** Absolute: the folder that web/build.ts makes. It may come, and change, while the service runs. */
  dist: string
  /** Why it could not be built, where everyone may know. */
  reason: string | undefined
  /** Of the API for pages of the common address, where it is at another host. */
  apiUrl: () => string | undefined
  tabKey: Sessions['tabKey']
  environment: Config['environment']
}

/** Files of `web/public`: they keep their names, so browsers ask again after a while. */
export const publicFiles = ['icon.svg', 'color-scheme.js']
const publicFileSeconds = 3600
const assetSeconds = 365 * 24 * 3600
/** What the build writes: one folder, plain names. */
const assetName = /^[\w-]+(\.[\w-]+)+$/
const compressedName = /\.(br|gz)$/

/** The page of the web UI at all its paths, and its files. */
export function addWebUiRoutes(app: FastifyInstance, { dist, reason, apiUrl, tabKey, environment }: WebUiParts): void {
  // Only `reply.sendFile` is taken of it: what is not asked for by a route is not sent.
  app.register(fastifyStatic, { root: dist, serve: false, preCompressed: true, suppressWarning: true })
  const config = { page: true as const }
  const apiUrlOf = (request: FastifyRequest) => (request.hostTenant === null ? apiUrl() : undefined)

  /** Without one the page asks for a token, so whatever keeps the key from being made does not keep the page. */
  const tabKeyOf = async (request: FastifyRequest) => {
    const sessionToken = peekCookie(request, 'session')
    return sessionToken === undefined ? undefined : tabKey(sessionToken).catch(() => undefined)
  }

  /** Returns the page and sets its headers; undefined where the UI is not built. */
  const filledPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const built = await readFile(join(dist, 'index.html'), 'utf8').catch(() => undefined)
    if (built === undefined) return undefined
    const reach = { apiUrl: apiUrlOf(request), nonce: freshNonce() }
    const key = await tabKeyOf(request)
    reply.type('text/html; charset=utf-8').headers({
      // The browser's cache is no place for the key of a session.
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

  // The router of the UI knows which addresses lead nowhere, and says so in its own page.
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
