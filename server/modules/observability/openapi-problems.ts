import { problemExample } from '../../../contract/problem-examples.ts'
import { type ProblemSlug, problems } from '../../../contract/problems.ts'
import type { RouteDescription } from '../../http/route.ts'

/** Problems that occur before an operation is reached, so no description refers to them. */
const outsideOperations: ReadonlySet<string> = new Set(['method-not-allowed', 'headers-too-large'])

const slugs = (Object.keys(problems) as ProblemSlug[]).filter((slug) => !outsideOperations.has(slug))

export const problemComponents = {
  schemas: {
    Problem: {
      type: 'object',
      description: 'Problem document (RFC 7807). The page at `type` explains it.',
      required: ['type', 'title', 'status', 'detail', 'instance'],
      additionalProperties: true,
      properties: {
        type: { type: 'string', format: 'uri', description: '{base_url}/errors/{slug}' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string', description: 'The problem of this request and its remedy' },
        instance: { type: 'string', description: 'Id of the request' },
        errors: {
          type: 'array',
          description: 'Every error, not only the first',
          items: {
            type: 'object',
            required: ['pointer', 'detail'],
            properties: {
              pointer: {
                type: 'string',
                description: 'JSON pointer into the body, or /query/<name>, /path/<name>, /headers/<name>',
              },
              detail: { type: 'string' },
            },
          },
        },
      },
    },
  },
  examples: Object.fromEntries(
    slugs.map((slug) => [slug, { summary: problems[slug].title, value: problemExample(slug) }]),
  ),
}

/** Returns the problems of an operation by status. A status that the route describes itself is omitted. */
export function problemResponses(route: RouteDescription): Record<string, unknown> {
  const byStatus = new Map<number, ProblemSlug[]>()
  for (const slug of slugsOf(route)) {
    const { status } = problems[slug]
    if (status in route.schema.response) continue
    byStatus.set(status, [...(byStatus.get(status) ?? []), slug])
  }
  const isPlain = route.schema.oauthErrors === true
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      status,
      {
        description: found.map((slug) => problems[slug].title).join('; '),
        headers: headersOf(status),
        content: {
          ...Object.fromEntries(
            ['application/problem+json', ...(isPlain ? ['application/json'] : [])].map((type) => [
              type,
              contentOf(found),
            ]),
          ),
          ...(route.schema.htmlErrors && { 'text/html': { schema: { type: 'string' } } }),
        },
      },
    ]),
  )
}

function contentOf(found: ProblemSlug[]): unknown {
  return {
    schema: { $ref: '#/components/schemas/Problem' },
    examples: Object.fromEntries(found.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }])),
  }
}

function headersOf(status: number): Record<string, unknown> {
  const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } }
  return {
    'X-Service-Request-ID': { $ref: '#/components/headers/RequestId' },
    ...((status === 429 || status === 503) && { 'Retry-After': retryAfter }),
  }
}

/**
 * Returns the problems of this kind of operation and those that the route adds, in the order of the table of problems.
 */
function slugsOf({ operation, schema }: RouteDescription): ProblemSlug[] {
  // A DELETE needs no body, but one that is sent is still read and checked.
  const hasBody = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(operation.method)
  const found = new Set<ProblemSlug>([
    'validation-failed',
    'version-not-available',
    'internal',
    ...(schema.problems ?? []),
  ])
  if (operation.access.kind !== 'public') found.add('hub-unavailable')
  if (operation.access.kind !== 'public') found.add('authentication-failed').add('invalid-tenant')
  if (operation.access.kind === 'token') found.add('insufficient-scope')
  if (operation.sameSiteOnly) found.add('cross-site-request')
  if (operation.rateClass) found.add('rate-limited')
  if (operation.path.includes('{')) found.add('not-found')
  if (hasBody) found.add('malformed-json').add('payload-too-large').add('unsupported-media-type')
  return slugs.filter((slug) => found.has(slug))
}
