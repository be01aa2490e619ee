import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { scopes } from '../../contract/scopes.ts'
import { alertEventKinds, invocationEventKinds, testEventKind, userEventKinds } from '../../contract/webhook-events.ts'
import { compileRequestValidator, compileSchema } from '../../server/http/request-validation.ts'
import type { OpenApiDocument } from '../../server/modules/observability/openapi-document.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { breakingDifferences } from './openapi-breaking.ts'

const golden = join(import.meta.dirname, '../golden/openapi.json')

let hub: TestHub
let document: OpenApiDocument
beforeAll(async () => {
  hub = await startHub()
  document = (await hub.call('acme', 'GET', '/v1/openapi.json', { token: null })).body
})
afterAll(() => hub.stop())

test('is a valid OpenAPI 3.1 document', async () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  await SwaggerParser.validate(structuredClone(document) as never)
})

test('describes every operation of the table, and nothing else', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => `${operation.operationId} ${method.toUpperCase()} ${path}`),
  )
  const expected = Object.entries(operations).map(([id, { method, path }]) => `${id} ${method} ${path}`)
  expect(described.sort()).toEqual(expected.sort())
})

test('is the golden copy, which no change may break: `npm run golden` writes it after one that does not', async () => {
  // Before the comparison, so that a breaking difference is never written.
  if (existsSync(golden)) {
    expect(breakingDifferences(JSON.parse(readFileSync(golden, 'utf8')), document)).toEqual([])
  }
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(golden)
})

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into from many sides
const allOperations = (): any[] => Object.values(document.paths).flatMap((item) => Object.values(item))

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
      expect(parameters.includes('#/components/parameters/Tenant'), operation.operationId).toBe(access.kind === 'token')
    }
  })

  test('says what it does, and what each parameter is', () => {
    const silent = allOperations().flatMap(({ operationId, description, parameters }) => [
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
    for (const { operationId, requestBody, responses } of allOperations()) {
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

test('describes each kind of message that is sent, with an example that is valid itself', () => {
  const webhooks = document.webhooks as Record<string, { post: { requestBody: { content: Record<string, never> } } }>
  const kinds = [...userEventKinds, ...invocationEventKinds, ...alertEventKinds, 'governance.*', testEventKind]
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
  // Identity providers add parameters of their own to what they send a browser back with.
  expect(loose).toEqual(['completeLogin query'])
  expect(() => compileRequestValidator({ response: {} })).not.toThrow()
})
