import type { DescribedOperation } from './api-description.ts'
import type { FuzzFixtures } from './fuzz-fixtures.ts'
import { percentEncode } from './odd-values.ts'
import type { Random } from './random.ts'
import { sampleOf } from './sample.ts'

/** A request in the making: right at first, then made wrong part by part. */
export interface RequestDraft {
  operation: DescribedOperation
  method: string
  /** Percent-encoded, without the query. */
  path: string
  /** Percent-encoded `name=value` pairs. */
  query: string[]
  headers: [name: string, value: string][]
  /** The body, until it becomes text. */
  json: unknown
  /** The body as text, until it becomes bytes. */
  text: string | undefined
  bytes: Buffer | undefined
  /** What was done to it. */
  mutations: string[]
}

/** The archetypes that acme's telemetry names stay, and nothing keeps its records from being purged. */
const inOtherTenant = ['replaceArchetypes', 'placeHold', 'releaseHold', 'replaceRetentionRules']

/** A request that the operation should take, with some of its optional parts. */
export function buildValidRequest(operation: DescribedOperation, random: Random, world: FuzzFixtures): RequestDraft {
  const named = world.namedFor(operation.operationId)
  const tenant = inOtherTenant.includes(operation.operationId) || random.chance(0.1) ? 'cmode' : 'acme'
  const draft: RequestDraft = {
    operation,
    method: operation.method,
    path: operation.path,
    query: [],
    headers: operation.takesToken
      ? [
          ['Authorization', `Bearer ${world.tokens[tenant]}`],
          ['X-Service-Tenant', tenant],
        ]
      : [],
    json: undefined,
    text: undefined,
    bytes: undefined,
    mutations: [],
  }
  for (const { name, in: place, required, schema } of operation.parameters) {
    // A signed address has all its parts, or is none.
    const isNeeded = required || (operation.operationId === 'downloadExport' && place === 'query')
    if (name === 'X-Service-Tenant' || (!isNeeded && random.chance(0.75))) continue
    const value = String(sampleOf(schema, random, named, name))
    if (place === 'path') draft.path = draft.path.replace(`{${name}}`, percentEncode(value))
    else if (place === 'query') draft.query.push(`${name}=${percentEncode(value)}`)
    else draft.headers.push([name, value])
  }
  if (operation.body && (operation.body.required || random.chance(0.7))) {
    draft.headers.push(['Content-Type', operation.body.mediaType])
    const value = sampleOf(operation.body.schema, random, named)
    if (operation.body.mediaType === 'application/json') draft.json = value
    else draft.text = new URLSearchParams(value as Record<string, string>).toString()
  }
  return draft
}

/** A request as it goes over the wire. */
export interface FuzzRequest {
  operation: DescribedOperation
  method: string
  /** Path and query. */
  target: string
  headers: [name: string, value: string][]
  body: Buffer | undefined
  mutations: string[]
}

export function finished(draft: RequestDraft): FuzzRequest {
  const { operation, method, headers, mutations } = draft
  const target = draft.query.length > 0 ? `${draft.path}?${draft.query.join('&')}` : draft.path
  return { operation, method, target, headers, body: draft.bytes, mutations }
}

export function headerOf(headers: readonly [string, string][], name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1]
}

export function setHeader(draft: RequestDraft, name: string, value: string | undefined): void {
  draft.headers = draft.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase())
  if (value !== undefined) draft.headers.push([name, value])
}
