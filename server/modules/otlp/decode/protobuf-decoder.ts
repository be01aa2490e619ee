import protobuf from 'protobufjs/minimal.js'
import { DomainError } from '../../../../contract/domain-error.ts'
import { Attributes, type AttributeValue } from '../inherited-attributes.ts'
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
/** Four bytes encode at most two UTF-16 units, so no more is decoded. */
const textBytesMax = 4096
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
    if (name !== undefined) item.name = textOf(name, 0, name.length)
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
    item.name = (name && textOf(name, 0, name.length)) || this.#textOfBody(body)
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
      this.#attribute(reader, own)
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
      this.#keyValue(protobuf.Reader.create(attribute), attribute.length, into)
      if (this.#budget.takeTurn()) yield
    }
  }

  /** Reads the attribute that comes next, with its length before it. */
  #attribute(reader: Reader, into: Attributes): void {
    const end = endOf(reader, reader.len)
    this.#keyValue(reader, end, into)
  }

  /** Reads an attribute in place: a view of each part would take longer than the part. */
  #keyValue(reader: Reader, end: number, into: Attributes): void {
    let key = -1
    let keyEnd = -1
    let value = -1
    let valueEnd = -1
    for (let count = 0; reader.pos < end; count++) {
      const tag = this.#smallTag(reader, count)
      if (tag === delimited(fields.attribute.key)) {
        keyEnd = endOf(reader, end)
        key = reader.pos
        reader.pos = keyEnd
      } else if (tag === delimited(fields.attribute.value)) {
        valueEnd = endOf(reader, end)
        value = reader.pos
        reader.pos = valueEnd
      } else skip(reader, tag)
    }
    if (reader.pos !== end) throw new Error('a field is longer than its message')
    if (key < 0 || value < 0) return
    const name = textOf(reader.buf, key, keyEnd)
    if (!this.#wanted.has(name)) return
    reader.pos = value
    const read = this.#value(reader, valueEnd)
    reader.pos = end
    if (read !== undefined) into.set(name, read)
  }

  /** Reads a value up to its end. Returns undefined for one that is too large to be part of an event. */
  #value(reader: Reader, end: number): AttributeValue | undefined {
    if (end - reader.pos > valueBytesMax) return undefined
    let value: AttributeValue | undefined
    let text = -1
    let textEnd = -1
    for (let count = 0; reader.pos < end; count++) {
      const tag = this.#smallTag(reader, count)
      if (tag === delimited(fields.value.text)) {
        textEnd = endOf(reader, end)
        text = reader.pos
        reader.pos = textEnd
        continue
      }
      if (tag === varint(fields.value.boolean)) value = reader.bool()
      else if (tag === varint(fields.value.integer)) value = Number(reader.int64())
      else if (tag === fixed64(fields.value.double)) value = reader.double()
      else {
        skip(reader, tag)
        continue
      }
      text = -1
    }
    if (reader.pos !== end) throw new Error('a field is longer than its message')
    return text >= 0 ? textOf(reader.buf, text, textEnd) : value
  }

  #textOfBody(bytes: Uint8Array | undefined): string {
    const body = bytes && this.#value(protobuf.Reader.create(bytes), bytes.length)
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

/** Reads the length of the field that comes next. Returns its end, which must be within the message. */
function endOf(reader: Reader, messageEnd: number): number {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > messageEnd) throw new Error('a field is longer than its message')
  return end
}

/** Decodes a part of a reader's bytes, which are a Buffer like those of the request. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  return storableText((bytes as Buffer).toString('utf8', start, Math.min(end, start + textBytesMax)))
}

function idOf(bytes: Uint8Array, length: number): string | undefined {
  if (bytes.length !== length || bytes.every((byte) => byte === 0)) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('hex')
}

function nanosOf(reader: Reader): bigint {
  const low = reader.fixed32()
  return (BigInt(reader.fixed32()) << 32n) | BigInt(low)
}
