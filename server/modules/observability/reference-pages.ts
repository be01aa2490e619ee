import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
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
