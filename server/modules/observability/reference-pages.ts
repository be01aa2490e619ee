import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { OpenApiDocument } from './openapi-document.ts'

/** Allows only own scripts and styles, nothing inline and nothing external: the page works without the Internet. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The icon: a seal, which every record has. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#0f766e"/>' +
  '<path d="M9 16.5l5 5 9-10" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>'

/** Adds the browsable reference at `/reference`. */
export function addReferencePages(app: FastifyInstance, describe: () => OpenApiDocument): void {
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
    transformSpecification: () => describe() as never,
    transformSpecificationClone: false,
  })
}
