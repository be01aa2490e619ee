import { isJsonObject } from '../../provenance/index.ts'

type Scalar = string | number | boolean

/** A row of a foreign file: the members of a JSON object, or the cells of a line of CSV by their columns. */
export class Row {
  readonly #members: Readonly<Record<string, unknown>>

  constructor(members: Readonly<Record<string, unknown>>) {
    this.#members = members
  }

  /** Returns the first of the members that is present and not empty. */
  first(...names: string[]): Scalar | undefined {
    return names.map((name) => scalarOf(this.#members[name])).find((value) => value !== undefined)
  }

  text(...names: string[]): string | undefined {
    const value = this.first(...names)
    return value === undefined ? undefined : String(value)
  }

  number(...names: string[]): number | undefined {
    return names.map((name) => numberOf(this.#members[name])).find((value) => value !== undefined)
  }

  /** Returns the first member that is an object, or the text of one as CSV has it; else an empty row. */
  object(...names: string[]): Row {
    return new Row(names.map((name) => parsed(this.#members[name])).find((value) => isJsonObject(value)) ?? {})
  }

  /** Returns the objects of a list. */
  list(name: string): Row[] {
    const value = parsed(this.#members[name])
    return Array.isArray(value) ? value.filter((each) => isJsonObject(each)).map((each) => new Row(each)) : []
  }

  /** Returns the sum of the numbers whose names match; undefined without any. */
  sum(names: RegExp): number | undefined {
    const numbers = Object.keys(this.#members)
      .filter((name) => names.test(name))
      .flatMap((name) => numberOf(this.#members[name]) ?? [])
    return numbers.length === 0 ? undefined : numbers.reduce((sum, each) => sum + each, 0)
  }
}

function scalarOf(value: unknown): Scalar | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim()
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  const scalar = scalarOf(value)
  const number = typeof scalar === 'string' ? Number(scalar) : scalar
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

// biome-ignore lint/suspicious/noExplicitAny: the value of a foreign file, narrowed by its callers
function parsed(value: unknown): any {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
