import { describe, expect, test } from 'vitest'
import { breakingDifferences } from './openapi-breaking.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test reaches into the document it changes
type Document = any

const before: Document = {
  paths: {
    '/things': {
      post: {
        operationId: 'writeThing',
        parameters: [{ name: 'dry', in: 'query', required: false, schema: { type: 'boolean' } }],
        requestBody: {
          required: false,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                additionalProperties: false,
                required: ['kind'],
                properties: {
                  kind: { anyOf: [{ const: 'a' }, { const: 'b' }] },
                  size: { type: 'integer', maximum: 10 },
                  name: { type: 'string' },
                  part: {
                    oneOf: [
                      { type: 'object', properties: { tag: { const: 1 }, x: { type: 'string' } } },
                      { type: 'object', properties: { tag: { const: 2 } } },
                    ],
                  },
                },
              },
            },
          },
        },
        responses: {
          '201': {
            headers: { Location: {} },
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['id'],
                  properties: {
                    id: { type: 'string' },
                    state: { enum: ['on', 'off'] },
                    items: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
                  },
                },
              },
            },
          },
        },
        security: [{ account: ['things:write'] }],
      },
    },
  },
  webhooks: {
    'thing.made': {
      post: {
        parameters: [{ name: 'X-Signature', in: 'header', required: true }],
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, n: { enum: [1, 2] } } },
            },
          },
        },
      },
    },
  },
}

const post = (document: Document) => document.paths['/things'].post
const input = (document: Document) => post(document).requestBody.content['application/json'].schema
const output = (document: Document) => post(document).responses['201'].content['application/json'].schema
const message = (document: Document) => document.webhooks['thing.made'].post
const payload = (document: Document) => message(document).requestBody.content['application/json'].schema

function changed(change: (document: Document) => void): string[] {
  const after = structuredClone(before)
  change(after)
  return breakingDifferences(before, after)
}

describe('breaking', () => {
  test.each<[string, (document: Document) => void, string]>([
    ['an operation gone', (it) => delete it.paths['/things'].post, 'is gone'],
    ['a renamed operation', (it) => (post(it).operationId = 'x'), 'another operationId'],
    ['a parameter gone', (it) => (post(it).parameters = []), 'parameter query dry is gone'],
    [
      'a parameter of another type',
      (it) => (post(it).parameters[0].schema.type = 'integer'),
      'was boolean and is integer',
    ],
    [
      'a new required parameter',
      (it) => post(it).parameters.push({ name: 'x', in: 'query', required: true }),
      'query x is now required',
    ],
    ['a body now required', (it) => (post(it).requestBody.required = true), 'body is now required'],
    ['a member of the body gone', (it) => delete input(it).properties.name, 'body/name is gone'],
    ['a new required member', (it) => input(it).required.push('name'), 'body/name is now required'],
    ['a narrower enumeration', (it) => input(it).properties.kind.anyOf.pop(), 'no longer takes "b"'],
    [
      'an enumeration where all was taken',
      (it) => (input(it).properties.name.enum = ['x']),
      'no longer takes anything else',
    ],
    ['a tighter bound', (it) => (input(it).properties.size.maximum = 9), 'maximum is now 9'],
    ['a new bound', (it) => (input(it).properties.name.maxLength = 9), 'maxLength is now 9'],
    ['a new pattern', (it) => (input(it).properties.name.pattern = 'x'), 'pattern is now x'],
    ['a branch gone', (it) => input(it).properties.part.oneOf.pop(), 'no longer takes [["tag",2]]'],
    ['a change in a branch', (it) => delete input(it).properties.part.oneOf[0].properties.x, '/x is gone'],
    ['a media type gone', (it) => (post(it).requestBody.content = {}), 'no more application/json'],
    ['an answer gone', (it) => (post(it).responses = { '200': {} }), 'answer 201 is gone'],
    ['a header gone', (it) => (post(it).responses['201'].headers = {}), 'header Location'],
    ['a member of the answer gone', (it) => delete output(it).properties.items, '/items is gone'],
    ['a deep one gone', (it) => delete output(it).properties.items.items.properties.n, '/items/*/n is gone'],
    ['one no longer always there', (it) => (output(it).required = []), '/id is no longer always there'],
    [
      'another type in the answer',
      (it) => (output(it).properties.id.type = ['string', 'null']),
      'was string and is string or null',
    ],
    ['a wider enumeration in the answer', (it) => output(it).properties.state.enum.push('x'), 'may now be "x"'],
    ['an enumeration of another type', (it) => (output(it).properties.id = { enum: [1] }), 'was string and is integer'],
    ['another scope', (it) => (post(it).security = [{ account: ['things:admin'] }]), 'no longer suffices'],
    ['one scope more', (it) => post(it).security[0].account.push('x'), 'no longer suffices'],
    ['a message gone', (it) => delete it.webhooks['thing.made'], 'message thing.made is gone'],
    ['all messages gone', (it) => delete it.webhooks, 'message thing.made is gone'],
    ['a header of a message gone', (it) => (message(it).parameters = []), 'header X-Signature is gone'],
    ['a member of a message gone', (it) => delete payload(it).properties.n, 'thing.made/n is gone'],
    ['one that is not always sent', (it) => (payload(it).required = []), 'thing.made/id is no longer always there'],
    ['a wider enumeration of a message', (it) => payload(it).properties.n.enum.push(3), 'may now be 3'],
  ])('%s', (_name, change, expected) => {
    expect(changed(change).join('\n')).toContain(expected)
  })
})

describe('not breaking', () => {
  test.each<[string, (document: Document) => void]>([
    ['nothing', () => {}],
    ['another operation', (it) => (it.paths['/more'] = { get: {} })],
    ['another optional parameter', (it) => post(it).parameters.push({ name: 'x', in: 'query', required: false })],
    ['another optional member of the body', (it) => (input(it).properties.more = { type: 'string' })],
    ['a wider enumeration', (it) => input(it).properties.kind.anyOf.push({ const: 'c' })],
    ['a looser bound', (it) => (input(it).properties.size.maximum = 11)],
    ['a wider type', (it) => (input(it).properties.size.type = 'number')],
    ['another branch', (it) => input(it).properties.part.oneOf.unshift({ properties: { tag: { const: 3 } } })],
    ['a member of the body less required', (it) => (input(it).required = [])],
    ['another member of the answer', (it) => (output(it).properties.more = { type: 'string' })],
    ['a narrower enumeration in the answer', (it) => output(it).properties.state.enum.pop()],
    ['an enumeration in the answer, of what was any text', (it) => (output(it).properties.id = { enum: ['x', 'y'] })],
    ['another answer', (it) => (post(it).responses['202'] = {})],
    ['another way in', (it) => post(it).security.push({ account: ['x'] })],
    ['other words', (it) => (post(it).summary = 'x')],
    ['another message', (it) => (it.webhooks['thing.lost'] = { post: {} })],
    ['another member of a message', (it) => (payload(it).properties.more = { type: 'string' })],
  ])('%s', (_name, change) => {
    expect(changed(change)).toEqual([])
  })
})
