import * as v from 'valibot'
import { patterns } from '../../contract/literals.ts'
import { parseTimestamp } from '../../contract/timestamp.ts'

/** Wraps the schema of an address parameter. An unusable value becomes undefined: a link never leads to an error. */
export const known = <Schema extends v.GenericSchema<string, string>>(schema: Schema) =>
  v.optional(v.fallback(v.optional(schema), undefined))

export const oneOf = <const Options extends readonly string[]>(options: Options) => known(v.picklist(options))

export const text = (length = 300) =>
  known(v.pipe(v.string(), v.minLength(1), v.maxLength(length), v.description(`1 to ${length} characters`)))

export const recordId = known(
  v.pipe(
    v.string(),
    v.trim(),
    v.toLowerCase(),
    v.regex(new RegExp(patterns.uuid)),
    v.description('an id such as 01890a5d-ac96-774b-bcce-b302099a8057'),
  ),
)

/** A point in time in the API's form. */
export const time = known(
  v.pipe(
    v.string(),
    v.check((given) => parseTimestamp(given) !== undefined),
    v.description('a time such as 2026-01-31T12:00:00Z'),
  ),
)

/** Names the parameters whose values were unusable, as a query. The page reports them. */
const missed = 'missed'

/**
 * Returns the schema of the parameters that a page reads from its address. Unusable values are left out of the result
 * and named in its parameter `missed`: otherwise a link to a few items would silently become one to all. Unknown
 * parameters stay in the address.
 *
 * @param entries schemas made by `known` and its relatives, by parameter
 */
export function addressSearch<const Entries extends v.ObjectEntries>(entries: Entries) {
  const understood = v.object(entries)
  const schema = v.pipe(
    v.custom<v.InferInput<typeof understood>>((given) => typeof given === 'object' && given !== null),
    v.transform((given): v.InferOutput<typeof understood> => {
      const raw = given as Readonly<Record<string, unknown>>
      const search = v.parse(understood, given) as v.InferOutput<typeof understood> & Record<string, unknown>
      const names = Object.keys(entries).filter((name) => raw[name] && search[name] === undefined)
      if (names.length === 0) return raw[missed] === undefined ? search : { ...search, [missed]: String(raw[missed]) }
      const values = names.map((name) => [name, String(raw[name]).slice(0, 100)])
      return { ...search, [missed]: new URLSearchParams(values).toString() }
    }),
  )
  return Object.assign(schema, { entries })
}

export interface AddressFaults {
  /** Names of parameters that the page does not read. */
  unknown: string[]
  /** Parameters that the page reads, with a value that it cannot use. */
  unusable: { name: string; value: string; allowed: string }[]
}

/**
 * Returns the parameters of an address that have no effect.
 *
 * @param search the parameters, as `addressSearch` returned them together with unknown ones
 * @param entries those that the page reads
 */
export function faultsOf(search: Readonly<Record<string, unknown>>, entries: v.ObjectEntries = {}): AddressFaults {
  const values = new URLSearchParams(String(search[missed] ?? ''))
  return {
    unknown: Object.keys(search).filter((name) => name !== missed && !Object.hasOwn(entries, name)),
    unusable: [...values].flatMap(([name, value]) =>
      Object.hasOwn(entries, name) ? [{ name, value, allowed: allowedBy(entries[name]!) }] : [],
    ),
  }
}

/** Returns the parameters without those that have no effect. */
export function withoutFaults<Search extends object>(search: Search, entries: v.ObjectEntries = {}): Search {
  return Object.fromEntries(Object.entries(search).filter(([name]) => Object.hasOwn(entries, name))) as Search
}

function allowedBy(entry: object): string {
  let schema = entry
  while ('wrapped' in schema) schema = schema.wrapped as object
  const { options, literal } = schema as { options?: readonly string[]; literal?: string }
  return options?.join(', ') ?? literal ?? v.getDescription(schema as v.GenericSchema) ?? 'another value'
}

/** Opens the form that adds something. */
export const adding = known(v.literal('1'))
export const addingSearch = addressSearch({ add: adding })
