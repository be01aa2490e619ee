import protobuf from 'protobufjs/minimal.js'
import { DomainError } from '../../../../contract/domain-error.ts'
import { Attributes, type AttributeValue } from '../attributes.ts'
import type { OtlpItem, Signal, WantedNames } from '../otlp-types.ts'
import {
  attributesMax,
  FieldBudget,
  GroupBudget,
  itemsMax,
  storableText,
  tooManyAttributes,
  tooManyItems,
  tooManyOfGroup,
} from './decode-limits.ts'

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
/** Maximum number of fields of an attribute, a value or a status, which have three at most and are read in one turn. */
const smallFieldsMax = 1000

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
  readonly #groups = new GroupBudget()
  readonly #items: OtlpItem[] = []

  constructor(signal: Signal, wanted: WantedNames) {
    this.#signal = signal
    this.#wanted = wanted
  }

  *request(bytes: Uint8Array): Generator<void, OtlpItem[]> {
    for (const resource of yield* this.#messages(bytes, fields.request.resources, true)) yield* this.#resource(resource)
    return this.#items
  }

  *#resource(bytes: Uint8Array): Generator<void> {
    yield
    const attributes = new Attributes()
    for (const resource of yield* this.#messages(bytes, fields.resource.resource)) {
      yield* this.#attributes(resource, fields.attributesOfResource, attributes)
    }
    const scopes = yield* this.#messages(bytes, fields.resource.scopes, true)
    for (const scope of scopes) yield* this.#scope(scope, attributes)
  }

  *#scope(bytes: Uint8Array, ofResource: Attributes): Generator<void> {
    yield
    const attributes = new Attributes(ofResource)
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

  *#span(bytes: Uint8Array, inherited: Attributes): Generator<void, OtlpItem> {
    let name: Uint8Array | undefined
    let status: Uint8Array | undefined
    const item = yield* this.#item(bytes, inherited, fields.span.attributes, (tag, reader, span) => {
      if (tag === delimited(fields.span.traceId)) span.traceId = idOf(reader.bytes(), 16)
      else if (tag === delimited(fields.span.spanId)) span.spanId = idOf(reader.bytes(), 8)
      else if (tag === delimited(fields.span.parentSpanId)) span.parentSpanId = idOf(reader.bytes(), 8)
      else if (tag === delimited(fields.span.name)) name = reader.bytes()
      else if (tag === fixed64(fields.span.start)) span.startNanos = nanosOf(reader)
      else if (tag === fixed64(fields.span.end)) span.endNanos = nanosOf(reader)
      else if (tag === delimited(fields.span.status)) status = reader.bytes()
      else skip(reader, tag)
    })
    if (item.fault !== undefined) return item
    if (name !== undefined) item.name = textOf(name)
    if (status !== undefined) item.isError = this.#isErrorStatus(status)
    return item
  }

  *#log(bytes: Uint8Array, inherited: Attributes): Generator<void, OtlpItem> {
    let name: Uint8Array | undefined
    let body: Uint8Array | undefined
    let observed = 0n
    const item = yield* this.#item(bytes, inherited, fields.log.attributes, (tag, reader, log) => {
      if (tag === fixed64(fields.log.time)) log.startNanos = nanosOf(reader)
      else if (tag === fixed64(fields.log.observed)) observed = nanosOf(reader)
      else if (tag === delimited(fields.log.body)) body = reader.bytes()
      else if (tag === delimited(fields.log.traceId)) log.traceId = idOf(reader.bytes(), 16)
      else if (tag === delimited(fields.log.spanId)) log.spanId = idOf(reader.bytes(), 8)
      else if (tag === delimited(fields.log.eventName)) name = reader.bytes()
      else skip(reader, tag)
    })
    if (item.fault !== undefined) return item
    item.startNanos ||= observed
    item.name = (name && textOf(name)) || this.#textOfBody(body)
    return item
  }

  /** Reads an item: its attributes here, each other field by `readField`. Ends with a fault at too many attributes. */
  *#item(
    bytes: Uint8Array,
    inherited: Attributes,
    attributesField: number,
    readField: (tag: number, reader: Reader, item: OtlpItem) => void,
  ): Generator<void, OtlpItem> {
    const own = new Attributes(inherited)
    const item = emptyItem(own)
    let attributes = 0
    const reader = protobuf.Reader.create(bytes)
    while (reader.pos < reader.len) {
      this.#budget.take()
      if (this.#budget.takeTurn()) yield
      const tag = reader.uint32()
      if (tag !== delimited(attributesField)) {
        readField(tag, reader, item)
        continue
      }
      attributes++
      if (attributes > attributesMax) return { ...item, attributes: inherited, fault: tooManyAttributes }
      this.#attribute(reader.bytes(), own)
    }
    return item
  }

  /** Returns the parts of a message that are messages with this field number, each of which may be a group of items. */
  *#messages(bytes: Uint8Array, field: number, areGroups = false): Generator<void, Uint8Array[]> {
    const found: Uint8Array[] = []
    const reader = protobuf.Reader.create(bytes)
    while (reader.pos < reader.len) {
      this.#budget.take()
      if (this.#budget.takeTurn()) yield
      const tag = reader.uint32()
      if (tag !== delimited(field)) {
        skip(reader, tag)
        continue
      }
      if (areGroups) this.#groups.take()
      else if (found.length >= itemsMax) throw tooManyItems()
      found.push(reader.bytes())
    }
    return found
  }

  *#attributes(bytes: Uint8Array, field: number, into: Attributes): Generator<void> {
    const found = yield* this.#messages(bytes, field)
    if (found.length > attributesMax) throw tooManyOfGroup()
    for (const attribute of found) {
      this.#attribute(attribute, into)
      if (this.#budget.takeTurn()) yield
    }
  }

  #attribute(bytes: Uint8Array, into: Attributes): void {
    const reader = protobuf.Reader.create(bytes)
    let key: Uint8Array | undefined
    let value: Uint8Array | undefined
    for (let count = 0; reader.pos < reader.len; count++) {
      const tag = this.#smallTag(reader, count)
      if (tag === delimited(fields.attribute.key)) key = reader.bytes()
      else if (tag === delimited(fields.attribute.value)) value = reader.bytes()
      else skip(reader, tag)
    }
    if (key === undefined || value === undefined) return
    const name = textOf(key)
    if (!this.#wanted.has(name)) return
    const read = this.#value(value)
    if (read !== undefined) into.set(name, read)
  }

  /** Returns undefined for a value that is too large to be part of an event. */
  #value(bytes: Uint8Array): AttributeValue | undefined {
    if (bytes.length > valueBytesMax) return undefined
    const reader = protobuf.Reader.create(bytes)
    let value: AttributeValue | Uint8Array | undefined
    for (let count = 0; reader.pos < reader.len; count++) {
      const tag = this.#smallTag(reader, count)
      if (tag === delimited(fields.value.text)) value = reader.bytes()
      else if (tag === varint(fields.value.boolean)) value = reader.bool()
      else if (tag === varint(fields.value.integer)) value = Number(reader.int64())
      else if (tag === fixed64(fields.value.double)) value = reader.double()
      else skip(reader, tag)
    }
    return typeof value === 'object' ? textOf(value) : value
  }

  #textOfBody(bytes: Uint8Array | undefined): string {
    const body = bytes && this.#value(bytes)
    return typeof body === 'string' ? body : ''
  }

  #isErrorStatus(bytes: Uint8Array): boolean {
    // A status has a message that people read, so it is not large.
    if (bytes.length > valueBytesMax) return true
    const reader = protobuf.Reader.create(bytes)
    let code = 0
    for (let count = 0; reader.pos < reader.len; count++) {
      const tag = this.#smallTag(reader, count)
      if (tag === varint(fields.statusCode)) code = reader.int32()
      else skip(reader, tag)
    }
    return code === errorStatus
  }

  /** Reads the tag of the next field of a small message, of which `count` fields are read. */
  #smallTag(reader: Reader, count: number): number {
    if (count >= smallFieldsMax) throw new Error(`an attribute or status has more than ${smallFieldsMax} fields`)
    this.#budget.take()
    return reader.uint32()
  }
}

function emptyItem(attributes: Attributes): OtlpItem {
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
  const wireType = tag & 7
  if (wireType === 3 || wireType === 4) throw new Error('a field is a group, which version 3 does not have')
  reader.skipType(wireType)
}

function textOf(bytes: Uint8Array): string {
  // Four bytes encode at most two UTF-16 units, so the excess is cut before it is decoded.
  return storableText(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('utf8'))
}

function idOf(bytes: Uint8Array, length: number): string | undefined {
  if (bytes.length !== length || bytes.every((byte) => byte === 0)) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('hex')
}

function nanosOf(reader: Reader): bigint {
  const low = reader.fixed32()
  return (BigInt(reader.fixed32()) << 32n) | BigInt(low)
}
