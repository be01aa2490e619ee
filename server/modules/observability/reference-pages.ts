import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import { problemExample } from '../../../contract/problem-examples.ts'
import { type ProblemSlug, problems } from '../../../contract/problems.ts'
import { addPage, type Html, html } from '../../http/page.ts'
import type { OpenApiDocument } from './openapi-components.ts'

/** Allows only own scripts and styles, nothing inline and nothing external: the page works without the Internet. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The icon: a seal, which every record has. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#0f766e"/>' +
  '<path d="M9 16.5l5 5 9-10" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>'

/** JSON is YAML, too (YAML 1.2, section 1.3). */
const documentTypes: Readonly<Record<string, string>> = {
  '/reference/json': 'application/json; charset=utf-8',
  '/reference/yaml': 'application/x-yaml; charset=utf-8',
}

/** Adds the browsable reference at `/reference`. */
export function addReferencePages(app: FastifyInstance, describe: () => OpenApiDocument): void {
  let text: string | undefined
  /** Writes the document once: doing so for each request would hold the event loop for 300 ms, as YAML. */
  const documentText = () => {
    text ??= JSON.stringify(describe(), undefined, 2)
    return text
  }
  // The document needs all routes, which are known only when it is requested.
  app.register(swagger, {
    mode: 'static',
    specification: { document: { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} } },
  })
  app.register(swaggerUi, {
    routePrefix: '/reference',
    uiConfig: {
      layout: 'BaseLayout',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: -1,
      syntaxHighlight: false,
    },
    theme: {
      title: 'Org-Memory Hub API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
    },
    staticCSP: contentSecurityPolicy,
    uiHooks: {
      preHandler: (request, reply, done) => {
        const type = documentTypes[request.routeOptions.url ?? '']
        if (type === undefined) return done()
        reply.type(type).send(documentText())
      },
    },
    transformSpecification: () => describe() as never,
    transformSpecificationClone: false,
  })
}

/** Adds the pages that the `type` of problem documents refers to, and their list. */
export function addErrorPages(app: FastifyInstance): void {
  addPage(app, '/errors', async () => ({ title: 'Errors', body: listOfProblems() }))
  addPage(app, '/errors/', async (_request, reply) => reply.redirect('/errors', 308))
  addPage(app, '/errors/:slug', async (request) => {
    const { slug } = request.params as { slug: string }
    if (!Object.hasOwn(problems, slug)) {
      throw new DomainError('not-found', 'No error has this name. /errors lists them all.')
    }
    return { title: problems[slug as ProblemSlug].title, body: pageOf(slug as ProblemSlug) }
  })
}

function pageOf(slug: ProblemSlug): Html {
  const { status, title, meaning, remedy } = problems[slug]
  return html`<p class="soft">HTTP ${status} · <code>${slug}</code></p>
<h1>${title}</h1>
<p>${inline(meaning)}</p>
<h2>What to do</h2>
<p>${inline(remedy)}</p>
<h2>Example</h2>
<pre tabindex="0"><code>${JSON.stringify(problemExample(slug), undefined, 2)}</code></pre>
<p class="soft">Errors are problem documents (RFC 7807). <code>detail</code> says what was wrong this time;
<code>instance</code> is the id of the request, which the operator finds in the log.</p>
<p><a href="/errors">All errors</a> · <a href="/reference">API reference</a> · <a href="/docs/errors/${slug}">Documentation</a></p>`
}

function listOfProblems(): Html {
  const rows = Object.entries(problems).map(
    ([slug, { status, title }]) =>
      html`<tr><td>${status}</td><td><a href="/errors/${slug}">${title}</a></td><td><code>${slug}</code></td></tr>`,
  )
  return html`<h1>Errors</h1>
<p>Every error is a problem document (RFC 7807) whose <code>type</code> is the address of one of these pages.</p>
<table><thead><tr><th>Status</th><th>Title</th><th>Slug</th></tr></thead><tbody>${rows}</tbody></table>
<p><a href="/reference">API reference</a> · <a href="/docs/errors/">Documentation</a></p>`
}

/** Formats the text between backquotes as `code`. */
function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}
