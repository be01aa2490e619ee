import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { html, type Page, sendPage } from '../../http/page.ts'
import { prefersHtml } from '../../http/problem-sender.ts'

const assetSeconds = 365 * 24 * 3600
const fileSeconds = 3600
/** Longer than every name of the site. */
const nameLengthMax = 200
/** Matches the names that the build writes: no empty segment, none that begins with a dot. */
const pathName = /^(?:[\w@-]+\/)*(?:[\w@-]+(?:\.[\w-]+)*)?$/
/** Compressed forms, pages with their extension, and files of the build itself. */
const internalName = /\.(?:br|gz|html|sha256)$|^hashmap\.json$/

/** Allows only own scripts and styles, nothing inline. Icons of the theme are `data:` images of its style sheet. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Adds the documentation at `/docs/`, for everyone: it is part of the product and has no data of a tenant.
 *
 * @param docs absolute path of the built site, which may appear and change while the service runs. `reply.sendFile`
 *   exists already
 */
export function addDocsRoutes(app: FastifyInstance, docs: string): void {
  const config = { page: true as const }
  app.get('/docs', { config }, (_request, reply) => reply.redirect('/docs/', 308))
  app.get('/docs/*', { config }, async (request, reply) => {
    const { '*': path } = request.params as { '*': string }
    const file = fileOf(path)
    if (file !== undefined && (await isFile(join(docs, file)))) return sendDocsFile(reply, file, docs)
    if (!(await isFile(join(docs, 'index.html')))) return sendPage(unbuiltPage, reply)
    if (!prefersHtml(request.headers.accept)) return reply.callNotFound()
    const page = await readFile(join(docs, '404.html'))
    return reply.code(404).type('text/html; charset=utf-8').headers(pageHeaders).send(page)
  })
}

const pageHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'strict-origin',
}

/** Returns the file for a path below `/docs/`; undefined if no file may have this name. */
function fileOf(path: string): string | undefined {
  if (path.length > nameLengthMax || !pathName.test(path) || internalName.test(path)) return undefined
  if (path === '' || path.endsWith('/')) return `${path}index.html`
  return /\.[\w-]+$/.test(path) ? path : `${path}.html`
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  )
}

function sendDocsFile(reply: FastifyReply, file: string, docs: string): FastifyReply {
  const options = { acceptRanges: false, lastModified: false, index: false as const }
  reply.headers(pageHeaders)
  if (file.endsWith('.html')) return reply.sendFile(file, docs, { ...options, cacheControl: false })
  const immutable = file.startsWith('assets/')
  const seconds = immutable ? assetSeconds : fileSeconds
  return reply.sendFile(file, docs, { ...options, maxAge: seconds * 1000, immutable })
}

/** Shown while the site is not built. */
const unbuiltPage: Page = {
  title: 'The documentation is not built',
  body: html`<h1>The documentation is not built</h1>
<p>It is built when the Hub is installed. To build it, run this command in the Hub's folder. A restart is not required:</p>
<pre tabindex="0">npm run docs:build</pre>
<p>The same pages are files in the folder <code>docs</code>.</p>`,
  status: 503,
  noStore: true,
}
