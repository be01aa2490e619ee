import type { PointedError } from '../../../contract/domain-error.ts'
import { numberBytesMax } from '../../../contract/limits.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { errorAt, numberViolation, textViolation } from './json-violations.ts'

/** The result of a walk: the value of the text, and its violations. */
export interface WalkedJson {
  value: JsonValue
  /** Repeated members, the first hundred. */
  duplicates: PointedError[]
  /** Names and values that the service does not store, the first hundred. */
  breaches: PointedError[]
}

/** Ends a walk: the text is not JSON. */
export class JsonSyntaxFault extends Error {
  readonly offset: number
  constructor(expected: string, offset: number) {
    super(expected)
    this.offset = offset
  }
}

/** Ends a walk: the text is nested deeper than allowed. */
export class JsonTooDeep extends Error {
  readonly pointer: string
  constructor(pointer: string) {
    super('The text is nested too deeply.')
    this.pointer = pointer
  }
}

type Open =
  | { list: JsonValue[]; members?: never; name: number }
  | { list?: never; members: Record<string, JsonValue>; name: string }

const reportedMax = 100
/** Values read between two yields, in about a millisecond. */
const valuesPerTurn = 2000
/** Characters of escaped text read between two yields, in about the same time. */
const lengthPerTurn = 512 * 1024
const shortSpace = 64
const noSpace = /[^ \t\n\r]/g
const endsOfScalar = new Set([',', ']', '}', ' ', '\t', '\n', '\r', undefined])

/**
 * Parses JSON text as `JSON.parse` does, and yields periodically. The engine's own parser is three times faster, but
 * nothing else runs until it ends. The walk knows its position, so it also names the places of errors.
 *
 * @throws JsonSyntaxFault, JsonTooDeep
 */
export function* walkJson(text: string, depthMax: number): Generator<void, WalkedJson> {
  const walk = new Walk(text, depthMax)
  let turnEnd = lengthPerTurn
  for (let values = 1; !walk.step(); values++) {
    if (values % valuesPerTurn !== 0 && walk.at < turnEnd) continue
    turnEnd = walk.at + lengthPerTurn
    yield
  }
  return walk.result()
}

class Walk {
  readonly #text: string
  readonly #depthMax: number
  readonly #open: Open[] = []
  readonly #duplicates: PointedError[] = []
  readonly #breaches: PointedError[] = []
  #at: number
  #root: JsonValue = null

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
    this.#at = this.#afterSpace(0)
  }

  /** Returns the number of characters that were read. */
  get at(): number {
    return this.#at
  }

  /** Reads one value, up to its end or its first item. Returns whether the text has ended. */
  step(): boolean {
    const first = this.#text[this.#at]
    if (first !== '{' && first !== '[') return this.#close(this.#scalar())
    if (this.#open.length === this.#depthMax) throw new JsonTooDeep(errorAt(this.#path(), '').pointer)
    this.#skip()
    if (this.#text[this.#at] === (first === '{' ? '}' : ']')) {
      this.#at++
      return this.#close(first === '{' ? {} : [])
    }
    if (first === '[') {
      this.#open.push({ list: [], name: 0 })
    } else {
      const open = { members: {}, name: '' }
      this.#open.push(open)
      open.name = this.#name()
    }
    return false
  }

  result(): WalkedJson {
    return { value: this.#root, duplicates: this.#duplicates, breaches: this.#breaches }
  }

  /** Adds a value to the array or object around it, and closes those that end after it. */
  #close(ended: JsonValue): boolean {
    let value = ended
    for (;;) {
      this.#at = this.#afterSpace(this.#at)
      const open = this.#open.at(-1)
      if (open === undefined) {
        if (this.#at < this.#text.length) throw new JsonSyntaxFault('end of text expected', this.#at)
        this.#root = value
        return true
      }
      if (open.list) open.list.push(value)
      else setMember(open.members, open.name, value)
      const next = this.#text[this.#at]
      if (next === ',') {
        this.#skip()
        if (open.list) open.name++
        else open.name = this.#name()
        return false
      }
      if (next !== (open.list ? ']' : '}')) {
        throw new JsonSyntaxFault(`comma or ${open.list ? 'bracket' : 'brace'} expected`, this.#at)
      }
      this.#at++
      this.#open.pop()
      value = open.list ?? open.members
    }
  }

  /** Reads a name and its colon. */
  #name(): string {
    const { members } = this.#open.at(-1) as Open
    if (this.#text[this.#at] !== '"') throw new JsonSyntaxFault('name in double quotes expected', this.#at)
    const name = this.#string()
    this.#at = this.#afterSpace(this.#at)
    if (this.#text[this.#at] !== ':') throw new JsonSyntaxFault('colon expected', this.#at)
    this.#skip()
    if (members && Object.hasOwn(members, name)) this.#note(this.#duplicates, 'occurs more than once', name)
    const breach = name === '__proto__' ? 'is not an allowed name' : textViolation(name)
    if (breach) this.#note(this.#breaches, breach, name)
    return name
  }

  #scalar(): JsonValue {
    if (this.#text[this.#at] === '"') {
      const value = this.#string()
      const breach = textViolation(value)
      if (breach) this.#note(this.#breaches, breach)
      return value
    }
    const from = this.#at
    // The scan has rejected longer numbers, so a longer literal is not JSON.
    const end = from + numberBytesMax + 1
    while (this.#at < end && !endsOfScalar.has(this.#text[this.#at])) this.#at++
    const literal = this.#text.slice(from, this.#at)
    const value = this.#parse(literal, from, 'value expected')
    const breach = typeof value === 'number' ? numberViolation(literal) : undefined
    if (breach) this.#note(this.#breaches, breach)
    return value
  }

  #string(): string {
    const from = this.#at
    let end = from
    do {
      end = this.#text.indexOf('"', end + 1)
      if (end < 0) throw new JsonSyntaxFault('end of the text in double quotes expected', this.#text.length)
    } while (this.#isEscaped(end))
    this.#at = end + 1
    return this.#parse(this.#text.slice(from, this.#at), from, 'valid text in double quotes expected') as string
  }

  /** Returns whether an odd number of backslashes precedes the position. */
  #isEscaped(at: number): boolean {
    let before = at - 1
    while (this.#text[before] === '\\') before--
    return (at - before) % 2 === 0
  }

  #parse(token: string, from: number, expected: string): JsonValue {
    try {
      return JSON.parse(token) as JsonValue
    } catch {
      throw new JsonSyntaxFault(expected, from)
    }
  }

  #note(list: PointedError[], detail: string, name?: string): void {
    if (list.length === reportedMax) return
    const path = this.#path()
    if (name !== undefined) path.splice(-1, 1, name)
    list.push(errorAt(path, detail))
  }

  #path(): (string | number)[] {
    return this.#open.map((open) => open.name)
  }

  /** Skips one character and the whitespace after it. */
  #skip(): void {
    this.#at = this.#afterSpace(this.#at + 1)
  }

  #afterSpace(from: number): number {
    const text = this.#text
    for (let at = from; at < from + shortSpace; at++) {
      const unit = text.charCodeAt(at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return at
    }
    // The engine's search is three times faster over megabytes, and slower over a few characters.
    noSpace.lastIndex = from + shortSpace
    return noSpace.exec(text)?.index ?? text.length
  }
}

function setMember(members: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name !== '__proto__') members[name] = value
  // An assignment would set the prototype.
  else Object.defineProperty(members, name, { value, configurable: true, enumerable: true })
}
