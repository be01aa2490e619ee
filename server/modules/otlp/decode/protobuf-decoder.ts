import protobuf from 'protobufjs/minimal.js'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { AttributeValue, OtlpItem, Signal, WantedNames } from '../otlp-types.ts'
import { attributesMax, FieldBudget, itemsMax, storableText, tooManyAttributes, tooManyItems } from './decode-limits.ts'

type Reader = protobuf.Reader

/** Field numbers of the messages in opentelemetry-proto 1.x. Requests, resources and scopes have those of traces. */
const fields = {
  request: { resources: 1 },
  resource: { resource: 1, scopes: 2 },
  attributesOfResource: 1,
  scope: { scope: 1, items: 2 },
  attributesOfScope: 3,
  span: { traceId: 1, spanId: 2, parentSpanId: 4, name: 5, start: 7, end: 8, attributes: 9, status: 15 },
  statusCode: 3,
  log: { time: 1, body: 5, attributes: 6, traceId: 9, spanId: 10, observed: 11, eventName: 12 },
  attribute: { key: 1, value: 2 },
  value: { text: 1, boolean: 2, integer: 3, double: 4 },
} as const

const errorStatus = 2
const valueBytesMax = 64 * 1024
const noAttributes: ReadonlyMap<string, AttributeValue> = new Map()

/**
 * Decodes an export request of traces or logs. Yields, so that other work runs in between. Attributes that are not
 * wanted, such as content, are skipped without being decoded.
 *
 * @throws DomainError `malformed-json` (a 400) for bytes that are no such message, `payload-too-large`
 */
export function* decodeProtobuf(bytes: Buffer, signal: Signal, wanted: WantedNames): Generator<void, OtlpItem[]> {
  try {
    return yield* new Decoder(signal, wanted).request(bytes)
  } catch (error) {
    if (error instanceof DomainError) throw error
    const message = `The body is not a valid protobuf message of an OTLP export request: ${(error as Error).message}.`
    throw new DomainError('malformed-json', message, { cause: error })
  }
}

class Decoder {
  readonly #signal: Signal
  readonly #wanted: WantedNames
  readonly #budget = new FieldBudget()
  readonly #items: OtlpItem[] = []

  constructor(signal: Signal, wanted: WantedNames) {
    this.#signal = signal
    this.#wanted = wanted
  }

  *request(bytes: Uint8Array): Generator<void, OtlpItem[]> {
    for (const resource of yield* this.#messages(bytes, fields.request.resources)) yield* this.#resource(resource)
    return this.#items
  }

  *#resource(bytes: Uint8Array): Generator<void> {
    const attributes = new Map<string, AttributeValue>()
    for (const resource of yield* this.#messages(bytes, fields.resource.resource)) {
      yield* this.#attributes(resource, fields.attributesOfResource, attributes)
    }
    for (const scope of yield* this.#messages(bytes, fields.resource.scopes)) yield* this.#scope(scope, attributes)
  }

  *#scope(bytes: Uint8Array, ofResource: ReadonlyMap<string, AttributeValue>): Generator<void> {
    const attributes = new Map(ofResource)
    for (const scope of yield* this.#messages(bytes, fields.scope.scope)) {
      yield* this.#attributes(scope, fields.attributesOfScope, attributes)
    }
    for (const item of yield* this.#messages(bytes, fields.scope.items)) {
      if (this.#items.length >= itemsMax) throw tooManyItems()
      this.#items.push(
        this.#signal === 'traces' ? yield* this.#span(item, attributes) : yield* this.#log(item, attributes),
      )
    }
  }

  *#span(bytes: Uint8Array, inherited: ReadonlyMap<string, AttributeValue>): Generator<void, OtlpItem> {
    const item = emptyItem(inherited)
    const own = new Map(inherited)
    let attributes = 0
    const reader = protobuf.Reader.create(bytes)
    while (reader.pos < reader.len) {
      if (this.#budget.take()) yield
      const tag = reader.uint32()
      switch (tag) {
        case delimited(fields.span.traceId):
          item.traceId = idOf(reader.bytes(), 16)
          break
        case delimited(fields.span.spanId):
          item.spanId = idOf(reader.bytes(), 8)
          break
        case delimited(fields.span.parentSpanId):
          item.parentSpanId = idOf(reader.bytes(), 8)
          break
        case delimited(fields.span.name):
          item.name = textOf(reader.bytes())
          break
        case fixed64(fields.span.start):
          item.startNanos = nanosOf(reader)
          break
        case fixed64(fields.span.end):
          item.endNanos = nanosOf(reader)
          break
        case delimited(fields.span.attributes):
          attributes++
          if (attributes > attributesMax) return { ...item, attributes: noAttributes, fault: tooManyAttributes }
          this.#attribute(reader.bytes(), own)
          break
        case delimited(fields.span.status):
          item.isError = isErrorStatus(reader.bytes())
          break
        default:
          skip(reader, tag)
      }
    }
    return { ...item, attributes: own }
  }

  *#log(bytes: Uint8Array, inherited: ReadonlyMap<string, AttributeValue>): Generator<void, OtlpItem> {
    const item = emptyItem(inherited)
    const own = new Map(inherited)
    let attributes = 0
    let body: AttributeValue | undefined
    let observed = 0n
    const reader = protobuf.Reader.create(bytes)
    while (reader.pos < reader.len) {
      if (this.#budget.take()) yield
      const tag = reader.uint32()
      switch (tag) {
        case fixed64(fields.log.time):
          item.startNanos = nanosOf(reader)
          break
        case fixed64(fields.log.observed):
          observed = nanosOf(reader)
          break
        case delimited(fields.log.body):
          body = readValue(reader.bytes())
          break
        case delimited(fields.log.attributes):
          attributes++
          if (attributes > attributesMax) return { ...item, attributes: noAttributes, fault: tooManyAttributes }
          this.#attribute(reader.bytes(), own)
          break
        case delimited(fields.log.traceId):
          item.traceId = idOf(reader.bytes(), 16)
          break
        case delimited(fields.log.spanId):
          item.spanId = idOf(reader.bytes(), 8)
          break
        case delimited(fields.log.eventName):
          item.name = textOf(reader.bytes())
          break
        default:
          skip(reader, tag)
      }
    }
    item.startNanos ||= observed
    if (item.name === '' && typeof body === 'string') item.name = body
    return { ...item, attributes: own }
  }

  /** Returns the parts of a message that are messages with this field number. */
  *#messages(bytes: Uint8Array, field: number): Generator<void, Uint8Array[]> {
    const found: Uint8Array[] = []
    const reader = protobuf.Reader.create(bytes)
    while (reader.pos < reader.len) {
      if (this.#budget.take()) yield
      const tag = reader.uint32()
      if (tag !== delimited(field)) skip(reader, tag)
      else if (found.push(reader.bytes()) > itemsMax) throw tooManyItems()
    }
    return found
  }

  *#attributes(bytes: Uint8Array, field: number, into: Map<string, AttributeValue>): Generator<void> {
    const found = yield* this.#messages(bytes, field)
    if (found.length > attributesMax) {
      throw new DomainError('payload-too-large', `A resource or scope has at most ${attributesMax} attributes.`)
    }
    for (const attribute of found) this.#attribute(attribute, into)
  }

  #attribute(bytes: Uint8Array, into: Map<string, AttributeValue>): void {
    const reader = protobuf.Reader.create(bytes)
    let key = ''
    let value: Uint8Array | undefined
    while (reader.pos < reader.len) {
      this.#budget.take()
      const tag = reader.uint32()
      if (tag === delimited(fields.attribute.key)) key = textOf(reader.bytes())
      else if (tag === delimited(fields.attribute.value)) value = reader.bytes()
      else skip(reader, tag)
    }
    if (value === undefined || !this.#wanted.has(key)) return
    const read = readValue(value)
    if (read !== undefined) into.set(key, read)
  }
}

function emptyItem(attributes: ReadonlyMap<string, AttributeValue>): OtlpItem {
  return {
    name: '',
    traceId: undefined,
    spanId: undefined,
    parentSpanId: undefined,
    startNanos: 0n,
    endNanos: 0n,
    isError: false,
    attributes,
  }
}

/** Returns the tag of a field with a length: text, bytes or a message. */
function delimited(field: number): number {
  return (field << 3) | 2
}

function fixed64(field: number): number {
  return (field << 3) | 1
}

function varint(field: number): number {
  return field << 3
}

function skip(reader: Reader, tag: number): void {
  if (tag >>> 3 === 0) throw new Error('a field has the number 0')
  reader.skipType(tag & 7)
}

function textOf(bytes: Uint8Array): string {
  // Four bytes encode at most two UTF-16 units, so the excess is cut before it is decoded.
  return storableText(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('utf8'))
}

/** Returns undefined for a value that is too large to be part of an event. */
function readValue(bytes: Uint8Array): AttributeValue | undefined {
  if (bytes.length > valueBytesMax) return undefined
  const reader = protobuf.Reader.create(bytes)
  let value: AttributeValue | undefined
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag === delimited(fields.value.text)) value = textOf(reader.bytes())
    else if (tag === varint(fields.value.boolean)) value = reader.bool()
    else if (tag === varint(fields.value.integer)) value = Number(reader.int64())
    else if (tag === fixed64(fields.value.double)) value = reader.double()
    else skip(reader, tag)
  }
  return value
}

function isErrorStatus(bytes: Uint8Array): boolean {
  // A status has a message that people read, so it is not large.
  if (bytes.length > valueBytesMax) return true
  const reader = protobuf.Reader.create(bytes)
  let code = 0
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag === varint(fields.statusCode)) code = reader.int32()
    else skip(reader, tag)
  }
  return code === errorStatus
}

function idOf(bytes: Uint8Array, length: number): string | undefined {
  if (bytes.length !== length || bytes.every((byte) => byte === 0)) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('hex')
}

function nanosOf(reader: Reader): bigint {
  const low = reader.fixed32()
  return (BigInt(reader.fixed32()) << 32n) | BigInt(low)
}
