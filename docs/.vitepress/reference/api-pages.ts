import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { anchorOf } from '../markdown.ts'
import { root } from '../pages.ts'
import { cell, fenced, type ReferencePage } from './markdown-text.ts'
import { membersOf, type Schema, typeOf } from './schema-members.ts'

interface Media {
  schema?: Schema
  example?: unknown
}

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
  security: Record<string, string[]>[]
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

interface Api {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}

/** The OpenAPI document that the Hub serves, which tests/http/openapi.test.ts keeps current. */
export const apiDocument = 'tests/golden/openapi.json'

/** Returns a page for each tag of the OpenAPI document, and their list. */
export function apiPages(): ReferencePage[] {
  const api = JSON.parse(readFileSync(join(root, apiDocument), 'utf8')) as Api
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ address: `${method.toUpperCase()} ${path}`, operation })),
  )
  const pages = api.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    const sections = own.map(({ address, operation }) => sectionOf(address, operation, api))
    return {
      ...{ title: `API: ${name}`, file: `api/${anchorOf(name)}.md`, operations: own },
      text: `# API: ${name}\n\n${description}. [All operations](index.md)\n\n${sections.join('\n')}`,
    }
  })
  return [{ title: 'All operations', file: 'api/index.md', text: listOf(pages) }, ...pages]
}

function listOf(pages: (ReferencePage & { operations: { address: string; operation: Operation }[] })[]): string {
  const parts = pages.map(({ title, file, operations }) => {
    const page = file.replace('api/', '')
    const rows = operations.map(
      ({ address, operation: { summary } }) => `| [${cell(summary)}](${page}#${anchorOf(summary)}) | \`${address}\` |`,
    )
    return `## [${title.replace('API: ', '')}](${page})\n\n| Operation | Request |\n|---|---|\n${rows.join('\n')}\n`
  })
  return `# API reference

Every operation of the API, from its OpenAPI document. A running Hub serves the document at \`/v1/openapi.json\`, and a page
that sends requests at \`/reference\`. [API for programs](../connector-developer.md) explains tokens, pages, errors and retries.

${parts.join('\n')}`
}

function sectionOf(address: string, operation: Operation, api: Api): string {
  const { summary, description, operationId, responses } = operation
  const parts = [
    `## ${summary}\n`,
    fenced('http', address),
    description === '' ? '' : `${description}\n`,
    `Operation \`${operationId}\`. ${accessOf(operation)}\n`,
    parametersOf(operation, api),
    bodyOf(operation, api),
    ...Object.entries(responses)
      .filter(([status]) => status < '400')
      .map(([status, response]) => responseOf(status, response.content, api)),
    errorsOf(operation),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function accessOf({ security }: Operation): string {
  const scopes = security.find((scheme) => 'serviceAccount' in scheme)?.serviceAccount
  if (scopes !== undefined) {
    return scopes.length === 0 ? 'Any token.' : `Scopes: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`
  }
  const schemes = security.flatMap((scheme) => Object.keys(scheme))
  return schemes.length === 0
    ? 'No token.'
    : `Credential: ${[...new Set(schemes)].map((name) => `\`${name}\``).join(', ')}.`
}

function parametersOf({ parameters }: Operation, api: Api): string {
  // Every operation has the same headers, which the page of the API for programs explains.
  const own = parameters.filter((parameter): parameter is Parameter => !('$ref' in parameter))
  if (own.length === 0) return ''
  const rows = own.map(
    ({ name, in: place, required, description, schema }) =>
      `| \`${name}\` | ${place} | ${cell(typeOf(schema, api))}${required ? ', required' : ''} | ${cell(description ?? '')} |`,
  )
  return `| Parameter | In | Type | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function bodyOf({ requestBody }: Operation, api: Api): string {
  return Object.entries(requestBody?.content ?? {})
    .map(([type, { schema, example }]) => {
      const body = example === undefined ? '' : `\n${fenced('json', JSON.stringify(example, undefined, 2))}`
      return `Request body, \`${type}\`:\n\n${tableOf(schema, api)}${body}`
    })
    .join('\n')
}

function responseOf(status: string, content: Record<string, Media> | undefined, api: Api): string {
  const media = Object.entries(content ?? {})
  if (media.length === 0) return `Response ${status}, without a body.\n`
  return media.map(([type, { schema }]) => `Response ${status}, \`${type}\`:\n\n${tableOf(schema, api)}`).join('\n')
}

function tableOf(schema: Schema | undefined, api: Api): string {
  const rows = schema === undefined ? [] : membersOf(schema, api)
  if (rows.length === 0) return `${schema === undefined ? 'Bytes' : `A value of type ${typeOf(schema, api)}`}.\n`
  const lines = rows.map(
    ({ path, type, required, description }) =>
      `| \`${path}\` | ${cell(type)}${required ? ', required' : ''} | ${cell(description)} |`,
  )
  return `| Member | Type | Meaning |\n|---|---|---|\n${lines.join('\n')}\n`
}

function errorsOf({ responses }: Operation): string {
  const statuses = Object.keys(responses).filter((status) => status >= '400')
  return `Errors: ${statuses.join(', ')}. Each has a [page](../errors/index.md).\n`
}
