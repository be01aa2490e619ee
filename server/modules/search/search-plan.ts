import { searchWordsMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import { type SearchQuery, type SearchUnit, withoutWord } from './search-query.ts'
import type { SearchMatch } from './search-schemas.ts'
import { countDocuments, parseQuery, parseUnits } from './search-store.ts'

/** The tsqueries by which a search finds and ranks records. */
export interface Plan {
  language: string
  /** Text of a tsquery; empty if nothing matches. */
  wanted: string
  /** How the records relate to the words of the query. */
  match: SearchMatch
  /** Scores by the share of these units; absent: by rank. */
  units?: { queries: readonly string[]; weights: readonly number[] } | undefined
  /** Text of the tsquery that matches the words to mark. */
  marking: string
  /** The weights by which later pages search, too. Negative weights belong to units that alone do not match. */
  cursorWeights?: readonly number[]
}

/** Words of a query whose other forms are found. A beginning is much more work for the index than a word. */
const prefixesMax = 8
/** Counts stop here. */
const countMax = 5_000
/** From so many words on, records with some of them are found. */
const someSuffice = 3

/**
 * Returns the plan that finds records with all words, in the language of the tenant.
 *
 * @throws DomainError `validation-failed` if the words that the language does not ignore are all excluded
 */
export async function planSearch(tx: TenantTx, query: SearchQuery): Promise<Plan> {
  const { language, wanted, isSearchable } = await parseQuery(tx, query.strict)
  if (!isSearchable) {
    const detail = `must contain a word that is neither excluded nor ignored in the language ${language}`
    throw withoutWord(query.pointer, detail)
  }
  const words = [...new Set(query.units.filter(isWanted).flatMap((unit) => unit.words))]
  const parsed = await parseUnits(tx, language, words.map(exact))
  return { language, wanted, match: 'all', marking: anyOf(parsed) }
}

/**
 * Returns a plan that also finds other forms of words, and with three or more words records with some of them. Returns
 * the strict plan if the query is not a plain list of words.
 *
 * @param recordTypes the types whose words decide on weights: others may be hidden from the caller
 * @param weights those of an earlier page
 */
export async function replanSearch(
  tx: TenantTx,
  strict: Plan,
  query: SearchQuery,
  recordTypes: readonly string[],
  weights?: readonly number[],
): Promise<Plan> {
  if (!query.isList) return strict
  const { language } = strict
  const forms = formsOf(query, language)
  const queries = await parseUnits(tx, language, forms)
  const excluded = (await parseUnits(tx, language, excludedOf(query))).filter((text) => text !== '')
  const without = excluded.map((text) => ` & !(${text})`).join('')
  const known = queries.filter((text) => text !== '')
  if (known.length === 0 || (known.length === 1 && forms.every(({ prefix }) => prefix === undefined))) return strict
  const cursorWeights = weights ?? (await weigh(tx, known, recordTypes))
  const candidates = known.filter((_, at) => (cursorWeights[at] ?? 0) > 0)
  const match = known.length < someSuffice ? 'forms' : 'some'
  const wanted = match === 'forms' ? allOf(known) : anyOf(candidates)
  return {
    language,
    match,
    wanted: wanted === '' ? '' : `(${wanted})${without}`,
    units: { queries: known, weights: cursorWeights.map(Math.abs) },
    marking: anyOf(known),
    cursorWeights,
  }
}

/**
 * Returns the weight of each unit: the rarer, the higher. A record must contain one of the rarest units, whose weights
 * are positive; they match a bounded number of records.
 */
async function weigh(tx: TenantTx, units: readonly string[], recordTypes: readonly string[]): Promise<number[]> {
  const { all, counts } = await countDocuments(tx, units, recordTypes, countMax)
  const weights = counts.map((count) => -Math.max(0.01, Number(Math.log((all + 1) / (count + 0.5)).toFixed(2))))
  const byRarity = counts.map((count, at) => ({ count, at })).sort((a, b) => a.count - b.count)
  let sum = 0
  for (const { count, at } of byRarity) {
    if (sum > 0 && sum + count > countMax) break
    sum += count
    weights[at] = -weights[at]!
  }
  return weights
}

const isWanted = ({ isExcluded }: SearchUnit) => !isExcluded
const exact = (phrase: string) => ({ phrase, prefix: undefined })

function excludedOf({ units }: SearchQuery) {
  return units.filter(({ isExcluded }) => isExcluded).map(({ words }) => exact(words.join(' ')))
}

/** Returns the words to compare with records, the first of them with the beginning of their forms. */
function formsOf(query: SearchQuery, language: string) {
  const prefixes = new Map<string, string | undefined>()
  let left = prefixesMax
  const longestFirst = query.units.filter(isWanted).sort((a, b) => lengthOf(b) - lengthOf(a))
  for (const unit of longestFirst) {
    const phrase = unit.words.join(' ')
    if (prefixes.has(phrase)) continue
    if (prefixes.size === searchWordsMax) break
    const prefix = left > 0 ? prefixOf(unit, language) : undefined
    if (prefix !== undefined) left -= 1
    prefixes.set(phrase, prefix)
  }
  return [...prefixes].map(([phrase, prefix]) => ({ phrase, prefix }))
}

function lengthOf({ words }: SearchUnit): number {
  return words.join('').length
}

/**
 * Returns the common beginning of a word's forms, such as `approv` for `approval` and `approved`. Languages other than
 * `simple` know the forms.
 */
function prefixOf({ words }: SearchUnit, language: string): string | undefined {
  const [word = ''] = words
  if (language !== 'simple' || words.length > 1 || !/^\p{L}{5,}$/u.test(word)) return undefined
  return word.slice(0, Math.max(4, word.length - 3))
}

function allOf(queries: readonly string[]): string {
  return queries.map((query) => `(${query})`).join(' & ')
}

function anyOf(queries: readonly string[]): string {
  return queries
    .filter((query) => query !== '')
    .map((query) => `(${query})`)
    .join(' | ')
}
