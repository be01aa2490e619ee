import { expect, test } from 'vitest'
import type { JsonObject } from '../../provenance/index.ts'
import { runToEnd } from '../../server/http/event-loop-yielder.ts'
import { decodeJson } from '../../server/modules/otlp/decode/json-decoder.ts'
import { decodeProtobuf } from '../../server/modules/otlp/decode/protobuf-decoder.ts'
import { toProtobuf } from './otlp-bodies.ts'

const wanted = new Set(['skill.name'])
const decoders = {
  json: (request: JsonObject) => decodeJson(request, 'traces', wanted),
  protobuf: (request: JsonObject) => decodeProtobuf(toProtobuf(request), 'traces', wanted),
}
const fromProtobuf = (...bytes: number[]) => runToEnd(decodeProtobuf(Buffer.from(bytes), 'traces', wanted))

test.each(Object.entries(decoders))('%s: resources and scopes are bounded over all parents', (_, decode) => {
  const withScopes = (count: number) => ({ scopeSpans: Array.from({ length: count }, () => ({})) })
  const request = (last: number) => ({ resourceSpans: [withScopes(9_999), withScopes(last)] })
  expect(runToEnd(decode(request(9_999)))).toEqual([])
  expect(() => runToEnd(decode(request(10_000)))).toThrow(/at most 20000 resources and scopes/)
})

test('empty resources and scopes let other work run', () => {
  for (const decode of Object.values(decoders)) {
    const work = decode({ resourceSpans: Array.from({ length: 100 }, () => ({ scopeSpans: [{}] })) })
    let turns = 0
    while (!work.next().done) turns++
    expect(turns).toBeGreaterThanOrEqual(200)
  }
})

test('the last of repeated fields counts', () => {
  // A span with two names and an attribute whose value is a number and then a text.
  const text = (field: number, content: number[]) => [(field << 3) | 2, content.length, ...content]
  const ascii = (characters: string) => [...Buffer.from(characters)]
  const value = [24, 7, ...text(1, ascii('sum-up'))]
  const attribute = [...text(1, ascii('other')), ...text(1, ascii('skill.name')), ...text(2, value)]
  const item = [...text(5, ascii('a')), ...text(9, attribute), ...text(5, ascii('b'))]
  const [read] = fromProtobuf(...text(1, text(2, text(2, item))))
  expect([read?.name, read?.attributes.get('skill.name')]).toEqual(['b', 'sum-up'])
})

const nested = (field: number, content: Uint8Array) =>
  Buffer.concat([Buffer.from([(field << 3) | 2, (content.length & 127) | 128, content.length >> 7]), content])
const manyFields = Buffer.from(Array.from({ length: 1001 }, () => [24, 1]).flat())
/** A span with an attribute, and with a name behind it into which a wrong length reaches. */
const spanWith = (attribute: Uint8Array) =>
  nested(1, nested(2, nested(2, Buffer.concat([nested(9, attribute), nested(5, Buffer.alloc(40, 'a'))]))))
const wantedKey = nested(1, Buffer.from('skill.name'))

test.each([
  ['a key that is longer than its attribute', Buffer.from([10, 5, 97]), /longer than its message/],
  ['a value that is longer than its attribute', Buffer.concat([wantedKey, Buffer.from([18, 9, 10])]), /longer than/],
  ['a text that is longer than its value', Buffer.concat([wantedKey, Buffer.from([18, 2, 10, 9])]), /longer than/],
  ['a number that is longer than its value', Buffer.concat([wantedKey, Buffer.from([18, 1, 33])]), /longer than/],
  [
    'a field to skip that is longer than its value',
    Buffer.concat([wantedKey, Buffer.from([18, 1, 41])]),
    /longer than/,
  ],
])('protobuf: %s is refused', (_, attribute, reason) => {
  expect(() => fromProtobuf(...spanWith(attribute))).toThrow(reason)
})

test.each([
  ['a group', Buffer.from([11, 12]), /is a group/],
  ['the end of a group', Buffer.from([12]), /is a group/],
  ['an attribute of many fields', nested(1, nested(2, nested(2, nested(9, manyFields)))), /more than 1000 fields/],
  ['a status of many fields', nested(1, nested(2, nested(2, nested(15, manyFields)))), /more than 1000 fields/],
])('protobuf: %s is refused', (_, body, reason) => {
  expect(() => fromProtobuf(...body)).toThrow(reason)
})
