import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
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

interface Section {
  address: string
  summary: string
  text: string
}

/** A page with some of the operations of a tag. */
interface TagPage extends ReferencePage {
  sections: Section[]
}

/** Maximum number of lines of operations on a page; further ones go on another part. One operation is never divided. */
const pageLinesMax = 300

/** Returns one or more pages for each tag of the OpenAPI document, and the list of operations. */
export function apiPages(): ReferencePage[] {
  const api = JSON.parse(readFileSync(join(root, apiDocument), 'utf8')) as Api
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ address: `${method.toUpperCase()} ${path}`, operation })),
  )
  const tags = api.tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag.name))
    const sections = own.map(({ address, operation }) => {
      return { address, summary: operation.summary, text: sectionOf(address, operation, api) }
    })
    return { name: tag.name, pages: pagesOf(tag, sections) }
  })
  return [{ title: 'All operations', file: 'api/index.md', text: listOf(tags) }, ...tags.flatMap(({ pages }) => pages)]
}

function pagesOf({ name, description }: Api['tags'][number], sections: readonly Section[]): TagPage[] {
  const parts = partsOf(sections)
  const fileOf = (part: number) => `${anchorOf(name)}${part === 0 ? '' : `-${part + 1}`}.md`
  return parts.map((part, at) => {
    const title = `API: ${name}${at === 0 ? '' : `, part ${at + 1}`}`
    const others = parts.flatMap((_, other) => (other === at ? [] : [`[part ${other + 1}](${fileOf(other)})`]))
    const links = ['[All operations](index.md)', ...others].join(', ')
    const text = `# ${title}\n\n${description}. ${links}\n\n${part.map(({ text }) => text).join('\n')}`
    return { title, file: `api/${fileOf(at)}`, text, sections: part }
  })
}

/** Divides sections, in their order, into as few pages as the bound allows. */
function partsOf(sections: readonly Section[]): Section[][] {
  const parts: Section[][] = []
  let lines = pageLinesMax
  for (const section of sections) {
    const own = section.text.split('\n').length
    if (lines + own > pageLinesMax) {
      parts.push([])
      lines = 0
    }
    parts.at(-1)!.push(section)
    lines += own
  }
  return parts
}

function listOf(tags: readonly { name: string; pages: readonly TagPage[] }[]): string {
  const lists = tags.map(({ name, pages }) => {
    const rows = pages.flatMap(({ file, sections }) =>
      sections.map(({ address, summary }) => {
        return `| [${cell(summary)}](${basename(file)}#${anchorOf(summary)}) | \`${address}\` |`
      }),
    )
    return `## [${name}](${anchorOf(name)}.md)\n\n| Operation | Request |\n|---|---|\n${rows.join('\n')}\n`
  })
  return `# API reference

Every operation of the API, from its OpenAPI document. A running Hub serves the document at \`/v1/openapi.json\`, and a page
that sends requests at \`/reference\`. [API for programs](../connector-developer.md) explains tokens, pages, errors and retries.

${lists.join('\n')}`
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
