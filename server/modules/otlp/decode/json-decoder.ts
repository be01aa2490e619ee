import { validationFailed } from '../../../../contract/domain-error.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/index.ts'
import { Attributes, type AttributeValue } from '../inherited-attributes.ts'
import type { OtlpItem, Signal, WantedNames } from '../otlp-types.ts'
import {
  attributesMax,
  GroupBudget,
  itemsMax,
  storableText,
  tooManyAttributes,
  tooManyItems,
  tooManyOfGroup,
} from './decode-limits.ts'

/** Names of the members of a request in the JSON encoding of OTLP. */
const names = {
  traces: { resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' },
  logs: { resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' },
} as const

/**
 * Reads the parsed JSON of an export request. Unknown members are ignored, as the protocol requires. Yields, so that
 * other work runs in between.
 *
 * @throws DomainError `validation-failed` with a pointer to each member of a wrong type, `payload-too-large`
 */
export function* decodeJson(body: JsonValue, signal: Signal, wanted: WantedNames): Generator<void, OtlpItem[]> {
  const { resources, scopes, items } = names[signal]
  const found: OtlpItem[] = []
  const groups = new GroupBudget()
  for (const [resource, at] of objectsIn(requireObject(body, ''), resources, '')) {
    groups.take()
    yield
    const ofResource = new Attributes()
    readGroup(optionalObject(resource, 'resource', at), `${at}/resource`, wanted, ofResource)
    for (const [scope, scopeAt] of objectsIn(resource, scopes, at)) {
      groups.take()
      yield
      const inherited = new Attributes(ofResource)
      readGroup(optionalObject(scope, 'scope', scopeAt), `${scopeAt}/scope`, wanted, inherited)
      for (const [item, itemAt] of objectsIn(scope, items, scopeAt)) {
        if (found.length >= itemsMax) throw tooManyItems()
        const read = signal === 'traces' ? spanOf(item, itemAt) : logOf(item, itemAt)
        const own = new Attributes(inherited)
        const isRead = readAttributes(item, itemAt, wanted, own)
        found.push({ ...read, attributes: own, ...(!isRead && { fault: tooManyAttributes }) })
        yield
      }
    }
  }
  return found
}

type ReadItem = Omit<OtlpItem, 'attributes'>

function spanOf(span: JsonObject, at: string): ReadItem {
  return {
    name: textAt(span, 'name', at) ?? '',
    traceId: idAt(span, 'traceId', 32, at),
    spanId: idAt(span, 'spanId', 16, at),
    parentSpanId: idAt(span, 'parentSpanId', 16, at),
    startNanos: nanosAt(span, 'startTimeUnixNano', at),
    endNanos: nanosAt(span, 'endTimeUnixNano', at),
    isError: [2, 'STATUS_CODE_ERROR'].includes((optionalObject(span, 'status', at)?.code ?? 0) as string | number),
  }
}

function logOf(log: JsonObject, at: string): ReadItem {
  const body = optionalObject(log, 'body', at)?.stringValue
  return {
    name: textAt(log, 'eventName', at) || (typeof body === 'string' ? storableText(body) : ''),
    traceId: idAt(log, 'traceId', 32, at),
    spanId: idAt(log, 'spanId', 16, at),
    parentSpanId: undefined,
    startNanos: nanosAt(log, 'timeUnixNano', at) || nanosAt(log, 'observedTimeUnixNano', at),
    endNanos: 0n,
    isError: false,
  }
}

/** Adds the wanted attributes of a resource or scope. Throws `payload-too-large` if there are too many. */
function readGroup(owner: JsonObject | undefined, at: string, wanted: WantedNames, into: Attributes): void {
  if (owner !== undefined && !readAttributes(owner, at, wanted, into)) throw tooManyOfGroup()
}

/** Adds the wanted attributes. Returns false, and adds none, if there are too many. */
function readAttributes(owner: JsonObject, at: string, wanted: WantedNames, into: Attributes): boolean {
  const { attributes } = owner
  if (Array.isArray(attributes) && attributes.length > attributesMax) return false
  for (const [attribute, place] of objectsIn(owner, 'attributes', at)) {
    const { key } = attribute
    if (typeof key !== 'string') throw wrongType(`${place}/key`, 'a string')
    if (!wanted.has(key)) continue
    const value = readValue(optionalObject(attribute, 'value', place))
    if (value !== undefined) into.set(key, value)
  }
  return true
}

function readValue(value: JsonObject | undefined): AttributeValue | undefined {
  const { stringValue, boolValue, intValue, doubleValue } = value ?? {}
  if (typeof stringValue === 'string') return storableText(stringValue)
  if (typeof boolValue === 'boolean') return boolValue
  const number = intValue ?? doubleValue
  return typeof number === 'number' || typeof number === 'string' ? Number(number) : undefined
}

/** Returns the objects of an array with their pointers. An absent member or null is an empty array. */
function* objectsIn(owner: JsonObject, name: string, at: string): Generator<[JsonObject, string]> {
  const list = owner[name] ?? []
  if (!Array.isArray(list)) throw wrongType(`${at}/${name}`, 'an array')
  for (const [index, item] of (list as JsonValue[]).entries()) {
    const place = `${at}/${name}/${index}`
    yield [requireObject(item, place), place]
  }
}

function requireObject(value: JsonValue, at: string): JsonObject {
  if (!isJsonObject(value)) throw wrongType(at, 'an object')
  return value
}

function optionalObject(owner: JsonObject, name: string, at: string): JsonObject | undefined {
  const value = owner[name] ?? undefined
  return value === undefined ? undefined : requireObject(value, `${at}/${name}`)
}

function textAt(owner: JsonObject, name: string, at: string): string | undefined {
  const value = owner[name] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw wrongType(`${at}/${name}`, 'a string')
  return value === undefined ? undefined : storableText(value)
}

/** Returns an id, which the JSON encoding of OTLP writes in hexadecimal digits of either case. */
function idAt(owner: JsonObject, name: string, digits: number, at: string): string | undefined {
  const text = textAt(owner, name, at)?.toLowerCase()
  return text?.length === digits && /^[0-9a-f]+$/.test(text) && /[^0]/.test(text) ? text : undefined
}

function nanosAt(owner: JsonObject, name: string, at: string): bigint {
  const value = owner[name] ?? 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw wrongType(`${at}/${name}`, 'nanoseconds since 1970, as a string of digits')
}

function wrongType(pointer: string, what: string): Error {
  return validationFailed([{ pointer, detail: `must be ${what}` }])
}
