import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { scopes } from '../../contract/scopes.ts'
import {
  alertEventKinds,
  budgetEventKinds,
  invocationEventKinds,
  testEventKind,
  userEventKinds,
} from '../../contract/webhook-events.ts'
import { compileRequestValidator, compileSchema } from '../../server/http/request-validation.ts'
import type { OpenApiDocument } from '../../server/modules/observability/openapi-components.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { breakingDifferences } from './openapi-breaking.ts'

const golden = join(import.meta.dirname, '../golden/openapi.json')

let hub: TestHub
let document: OpenApiDocument
/** With each reference to a schema replaced by the schema. */
let whole: OpenApiDocument
beforeAll(async () => {
  hub = await startHub()
  document = (await hub.call('acme', 'GET', '/v1/openapi.json', { token: null })).body
  whole = withoutReferences(document)
})
afterAll(() => hub.stop())

test('is a valid OpenAPI 3.1 document', async () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  await SwaggerParser.validate(structuredClone(document) as never)
})

test('is at the reference pages as well, as JSON and as YAML, and is written once', async () => {
  const page = (kind: string) => hub.app.inject(`/reference/${kind}`)
  const [json, yaml] = [await page('json'), await page('yaml')]
  expect([json.headers['content-type'], yaml.headers['content-type']]).toEqual([
    'application/json; charset=utf-8',
    'application/x-yaml; charset=utf-8',
  ])
  for (const { payload } of [json, yaml]) expect(JSON.parse(payload)).toEqual(document)
  const written = vi.spyOn(JSON, 'stringify')
  for (const kind of ['json', 'yaml']) expect((await page(kind)).payload).toBe(json.payload)
  expect(written.mock.calls.filter(([value]) => value?.openapi !== undefined)).toEqual([])
  written.mockRestore()
})

test('describes every operation of the table, and nothing else', () => {
  const described = Object.entries(document.paths)
    .filter(([path]) => !path.startsWith('/scim/'))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => `${operation.operationId} ${method.toUpperCase()} ${path}`),
    )
  const expected = Object.entries(operations).map(([id, { method, path }]) => `${id} ${method} ${path}`)
  expect(described.sort()).toEqual(expected.sort())
})

test('is the golden copy, which no change may break: `npm run golden` writes it after one that does not', async () => {
  // Before the comparison, so that a breaking difference is never written.
  if (existsSync(golden)) {
    const before = withoutReferences(JSON.parse(readFileSync(golden, 'utf8')))
    expect(breakingDifferences(before, whole)).toEqual([])
  }
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(golden)
})

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into from many sides
const everyOperation = (): any[] => Object.values(whole.paths).flatMap((item) => Object.values(item))
/** Those of the operations table. */
const allOperations = () => everyOperation().filter(({ tags }) => tags[0] !== 'SCIM')

/** Resolves the references to schemas, and leaves out the mappings, which the validator does not take. */
function withoutReferences(described: OpenApiDocument): OpenApiDocument {
  const { schemas } = described.components as { schemas: Record<string, unknown> }
  const resolved = (name: string, value: unknown): unknown => {
    const { $ref } = (value ?? {}) as { $ref?: string }
    if (name === 'discriminator') return { propertyName: (value as { propertyName: string }).propertyName }
    if (!$ref?.startsWith('#/components/schemas/')) return value
    return JSON.parse(JSON.stringify(schemas[$ref.slice('#/components/schemas/'.length)], resolved))
  }
  return JSON.parse(JSON.stringify(described, resolved))
}

describe('each operation', () => {
  test('names its credentials with the scopes of the table', () => {
    for (const operation of allOperations()) {
      const { access } = operations[operation.operationId as keyof typeof operations]
      const alternatives = operation.security
        .map((each: Record<string, string[]>) => each.serviceAccount)
        .filter(Boolean)
      expect(alternatives, operation.operationId).toEqual(access.kind === 'token' ? access.anyOf : [])
      for (const scope of alternatives.flat()) expect(scope in scopes).toBe(true)
      const parameters = operation.parameters.map((each: { $ref?: string }) => each.$ref)
      expect(parameters.includes('#/components/parameters/Tenant'), operation.operationId).toBe(
        access.kind === 'token' && operation.operationId !== 'callMcp',
      )
    }
  })

  test('says what it does, and what each parameter is', () => {
    const silent = everyOperation().flatMap(({ operationId, description, parameters }) => [
      ...(description ? [] : [operationId]),
      ...parameters
        .filter((each: { $ref?: string; description?: string }) => !each.$ref && !each.description)
        .map(({ name }: { name: string }) => `${operationId} ${name}`),
    ])
    expect(silent).toEqual([])
  })

  test('describes its problems', () => {
    for (const operation of allOperations()) {
      const problems = Object.entries<{ content?: Record<string, unknown> }>(operation.responses).filter(
        ([status]) => Number(status) >= 400,
      )
      expect(problems.length, operation.operationId).toBeGreaterThan(1)
      const isToken = operations[operation.operationId as keyof typeof operations].access.kind === 'token'
      if (isToken)
        expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429', '503']))
      for (const [status, { content }] of problems) {
        if (operation.operationId === 'getHealth' && status === '503') continue
        expect(Object.keys(content ?? {}), `${operation.operationId} ${status}`).toContain('application/problem+json')
      }
    }
  })

  test('has an example for each body and answer that is valid itself', () => {
    const wrong: string[] = []
    let looked = 0
    const look = (name: string, content: Record<string, { schema: object; example?: unknown }> = {}) => {
      for (const { schema, example } of Object.values(content)) {
        looked++
        const errors = compileSchema(schema as never)(example)
        if (example === undefined || errors.length > 0) wrong.push(`${name}: ${JSON.stringify(errors)}`)
      }
    }
    for (const { operationId, requestBody, responses } of everyOperation()) {
      look(`${operationId} body`, requestBody?.content)
      for (const [status, answer] of Object.entries<{ content?: never }>(responses)) {
        if (Number(status) < 400) look(`${operationId} ${status}`, answer.content)
      }
    }
    expect(wrong).toEqual([])
    expect(looked).toBeGreaterThan(20)
  })

  test('has examples of its parameters that pass', () => {
    const wrong: string[] = []
    for (const { operationId, parameters } of allOperations()) {
      for (const { name, schema } of parameters.filter((each: { schema?: object }) => each.schema)) {
        for (const example of schema.examples ?? []) {
          const errors = compileSchema(schema)(example)
          if (errors.length > 0) wrong.push(`${operationId} ${name}: ${JSON.stringify(errors)}`)
        }
      }
    }
    expect(wrong).toEqual([])
  })
})

test('the names that generators make of operations are words, and each is there once', () => {
  const messages = Object.values(document.webhooks as Record<string, { post: { operationId: string } }>)
  const ids = [...everyOperation(), ...messages.map(({ post }) => post)].map(({ operationId }) => operationId)
  expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]*)*$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

test('names the branches of each union that has a discriminator', () => {
  const { schemas } = document.components as { schemas: Record<string, unknown> }
  const unions: { oneOf: { $ref: string }[]; discriminator: { mapping: Record<string, string> } }[] = []
  JSON.stringify(document, (_, value) => {
    if (value?.discriminator?.propertyName !== undefined) unions.push(value)
    return value
  })
  expect(unions.length).toBeGreaterThan(0)
  for (const { oneOf, discriminator } of unions) {
    expect(Object.values(discriminator.mapping).sort()).toEqual(oneOf.map(({ $ref }) => $ref).sort())
    for (const [tag, $ref] of Object.entries(discriminator.mapping)) {
      const branch = schemas[$ref.replace('#/components/schemas/', '')] as { properties: { record_type: object } }
      expect(branch.properties.record_type).toMatchObject({ const: tag })
    }
  }
})

test('has patterns that Python and other languages read as JavaScript does', () => {
  const patterns = new Set<string>()
  JSON.stringify(document, (name, value) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  })
  expect(patterns.size).toBeGreaterThan(10)
  // Character classes by property, named groups, sticky look-behind and \\cX differ between languages, or are missing.
  const foreign = /\\[pPkcGKZzAXRN]|\(\?(?!:)|\\u\{|\\x\{|\[\[|&&|[*+?}]\+/
  expect([...patterns].filter((pattern) => foreign.test(pattern))).toEqual([])
  for (const pattern of patterns) expect(() => new RegExp(pattern, 'u'), pattern).not.toThrow()
  const compile = 'import json, re, sys\nfor each in json.load(sys.stdin): re.compile(each)'
  const { status, error, stderr } = spawnSync('python3', ['-c', compile], { input: JSON.stringify([...patterns]) })
  // Where there is no Python, the check above stands for it.
  if (error === undefined) expect([status, String(stderr)]).toEqual([0, ''])
})

test('describes each kind of message that is sent, with an example that is valid itself', () => {
  const webhooks = whole.webhooks as Record<string, { post: { requestBody: { content: Record<string, never> } } }>
  const kinds = [
    ...userEventKinds,
    ...invocationEventKinds,
    ...budgetEventKinds,
    ...alertEventKinds,
    'governance.*',
    testEventKind,
  ]
  expect(Object.keys(webhooks).sort()).toEqual(kinds.sort())
  for (const [kind, { post }] of Object.entries(webhooks)) {
    const { schema, example } = post.requestBody.content['application/json'] as unknown as {
      schema: object
      example: object
    }
    expect(compileSchema(schema as never)(example), kind).toEqual([])
    expect(compileSchema(schema as never)({ ...example, kind: 'other', more: 1 }), kind).toHaveLength(2)
  }
})

test('what the document describes is what is checked: no schema takes members it does not name', () => {
  const loose = [...hub.app.hubRoutes.values()].flatMap(({ operationId, schema }) =>
    Object.entries({ params: schema.params, query: schema.querystring })
      .filter(
        ([, part]) => part !== undefined && (part as { additionalProperties?: unknown }).additionalProperties !== false,
      )
      .map(([part]) => `${operationId} ${part}`),
  )
  // Identity providers and OAuth clients add parameters of their own to what they send a browser with.
  expect(loose).toEqual(['authorizeClient query', 'completeLogin query'])
  expect(() => compileRequestValidator({ response: {} })).not.toThrow()
})
