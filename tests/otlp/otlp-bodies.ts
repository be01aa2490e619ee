import protobuf from 'protobufjs'
import type { JsonObject } from '../../provenance/index.ts'

/** Builds export requests in both encodings, by a description of the messages that is independent of the decoder. */

type Value = string | number | boolean
export type Attributes = Record<string, Value>

const anyValue = (value: Value) => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
export const keyValues = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))

export const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
export const spanIdOf = (number: number) => (0xabc0000 + number).toString(16).padStart(16, '0')
export const startNanos = 1_767_605_400_123_456_000n

/** A call of a model, by the conventions. */
export const chat: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'anthropic',
  'gen_ai.request.model': 'claude-3-haiku-20240307',
  'gen_ai.usage.input_tokens': 1000,
  'gen_ai.usage.output_tokens': 200,
  'user.id': 'kim@example.com',
  'session.id': 'chat-1',
  'skill.name': 'sum-up',
  'archetype.id': 'analyst',
}

export function span(number: number, attributes: Attributes = chat, changes: JsonObject = {}): JsonObject {
  return {
    traceId,
    spanId: spanIdOf(number),
    name: 'chat claude',
    startTimeUnixNano: String(startNanos),
    endTimeUnixNano: String(startNanos + 1_200_000_000n),
    attributes: keyValues(attributes),
    ...changes,
  }
}

export const traces = (spans: JsonObject[], resource: Attributes = {}): JsonObject => ({
  resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope: { name: 'test' }, spans }] }],
})

export function log(attributes: Attributes, changes: JsonObject = {}): JsonObject {
  return { timeUnixNano: String(startNanos), attributes: keyValues(attributes), ...changes }
}

export const logs = (logRecords: JsonObject[], resource: Attributes = {}): JsonObject => ({
  resourceLogs: [{ resource: { attributes: keyValues(resource) }, scopeLogs: [{ logRecords }] }],
})

const repeated = (type: string, id: number) => ({ rule: 'repeated', type, id })
const one = (type: string, id: number) => ({ type, id })
const messages: Record<string, Record<string, { type: string; id: number; rule?: string }>> = {
  Traces: { resourceSpans: repeated('ResourceSpans', 1) },
  ResourceSpans: { resource: one('Resource', 1), scopeSpans: repeated('ScopeSpans', 2) },
  ScopeSpans: { scope: one('Scope', 1), spans: repeated('Span', 2) },
  Logs: { resourceLogs: repeated('ResourceLogs', 1) },
  ResourceLogs: { resource: one('Resource', 1), scopeLogs: repeated('ScopeLogs', 2) },
  ScopeLogs: { scope: one('Scope', 1), logRecords: repeated('Log', 2) },
  Resource: { attributes: repeated('KeyValue', 1) },
  Scope: { name: one('string', 1), attributes: repeated('KeyValue', 3) },
  KeyValue: { key: one('string', 1), value: one('AnyValue', 2) },
  AnyValue: {
    stringValue: one('string', 1),
    boolValue: one('bool', 2),
    intValue: one('int64', 3),
    doubleValue: one('double', 4),
  },
  Status: { message: one('string', 2), code: one('int32', 3) },
  Span: {
    traceId: one('bytes', 1),
    spanId: one('bytes', 2),
    parentSpanId: one('bytes', 4),
    name: one('string', 5),
    kind: one('int32', 6),
    startTimeUnixNano: one('fixed64', 7),
    endTimeUnixNano: one('fixed64', 8),
    attributes: repeated('KeyValue', 9),
    status: one('Status', 15),
  },
  Log: {
    timeUnixNano: one('fixed64', 1),
    body: one('AnyValue', 5),
    attributes: repeated('KeyValue', 6),
    traceId: one('bytes', 9),
    spanId: one('bytes', 10),
    observedTimeUnixNano: one('fixed64', 11),
    eventName: one('string', 12),
  },
  PartialSuccess: { rejected: one('int64', 1), errorMessage: one('string', 2) },
  Response: { partialSuccess: one('PartialSuccess', 1) },
  RpcStatus: { code: one('int32', 1), message: one('string', 2) },
}
const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(Object.entries(messages).map(([name, fields]) => [name, { fields }])),
})
const typeOf = (name: string) => root.lookupType(name)

/** Encodes the JSON of a request. */
export function toProtobuf(request: JsonObject): Buffer {
  const type = typeOf('resourceSpans' in request ? 'Traces' : 'Logs')
  const withBytes = JSON.parse(JSON.stringify(request), (name, value) =>
    /^(trace|span|parentSpan)Id$/.test(name) ? Buffer.from(value as string, 'hex').toString('base64') : value,
  )
  return Buffer.from(type.encode(type.fromObject(withBytes)).finish())
}

const plain = (name: string, bytes: Uint8Array) =>
  typeOf(name).toObject(typeOf(name).decode(bytes), { longs: String }) as Record<string, unknown>

export const readResponse = (bytes: Uint8Array) => plain('Response', bytes)
export const readStatus = (bytes: Uint8Array) => plain('RpcStatus', bytes)
