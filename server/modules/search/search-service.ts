import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { recordsResponseBytesMax, searchPageSizeDefault } from '../../../contract/limits.ts'
import { recordTypes } from '../../../contract/literals.ts'
import { visibleTypes } from '../../../contract/record-visibility.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../http/cursor.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { recordIdFloor, recordIdFloorOf } from '../../records/record-clock.ts'
import { parseCanonical, responseText } from '../../records/record-response.ts'
import type { AnsweredRecord } from '../../records/record-rows.ts'
import { findRecords } from '../../records/record-store.ts'
import { searchedTexts, searchedTypes } from './record-texts.ts'
import { type Plan, planSearch, replanSearch } from './search-plan.ts'
import { parseSearchQuery, type SearchQuery } from './search-query.ts'
import type { SearchAnswer, SearchParameters } from './search-schemas.ts'
import { findMatches, findMatchingWords, type Match, type MatchCriteria, type Matches } from './search-store.ts'
import type { AnswerableRows, SearchMatches } from './search-types.ts'
import { type Candidates, candidatesOf, snippetLengthMax, snippetOf } from './snippet.ts'

/** Searches records. */
export interface RecordSearch extends SearchMatches {
  /** Returns a page as JSON text, built from the stored records. */
  search(caller: Caller, parameters: SearchParameters): Promise<string>
}

/** Matches that are ranked: the newest. Fewer if each is compared with many words. */
const rankedMax = { byRank: 10_000, byWords: 2_000 }
const readMode = { readOnly: true, onReplica: true } as const
const searchMode = { ...readMode, search: true } as const
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const uuid = /^\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$/i

const nothing: Matches = { matches: [], isTruncated: false }

type Position = Pick<Match, 'record_id' | 'score'>
type Scope = Omit<MatchCriteria, 'wanted' | 'units' | 'ranked'>

export function createRecordSearch(deps: {
  database: Database
  clock: RecordClock
  cursorKey: Buffer
  answerable: AnswerableRows
}): RecordSearch {
  const { database, clock, cursorKey, answerable } = deps

  /** Returns a page of matches, and the plan that found them. Without a match of all words, some words suffice. */
  async function find(tx: TenantTx, query: SearchQuery, scope: Scope, page: PageRequest) {
    const strict = await planSearch(tx, query)
    const matchesOf = (plan: Plan) =>
      findMatches(tx, { ...scope, ...plan, ranked: plan.units ? rankedMax.byWords : rankedMax.byRank }, page)
    if (page.weights !== undefined) {
      const plan = await replanSearch(tx, strict, query, scope.recordTypes, page.weights)
      return { plan, ...(await matchesOf(plan)) }
    }
    const found = strict.wanted === '' && scope.recordId === undefined ? nothing : await matchesOf(strict)
    if (found.matches.length > 0 || page.after !== undefined) return { plan: strict, ...found }
    const plan = await replanSearch(tx, strict, query, scope.recordTypes)
    return plan === strict ? { plan, ...found } : { plan, ...(await matchesOf(plan)) }
  }

  async function rowsOf(tx: TenantTx, matches: readonly Match[], now: string): Promise<AnsweredRecord[]> {
    const ids = matches.map(({ record_id }) => record_id)
    const rows = new Map((await answerable(tx, await findRecords(tx, ids, now))).map((row) => [row.record_id, row]))
    return ids.flatMap((id) => rows.get(id) ?? [])
  }

  /** Returns the words of the results that match. */
  async function wordsToMark({ slug }: Tenant, plan: Plan, results: readonly ResultText[]): Promise<Set<string>> {
    const words = new Set<string>()
    for (const { candidates } of results) for (const { hits } of candidates) for (const hit of hits) words.add(hit.text)
    if (words.size === 0) return words
    const find = (tx: TenantTx) => findMatchingWords(tx, plan.language, [...words], plan.marking)
    return new Set(await database.withTenant(slug, find, searchMode))
  }

  return {
    async check(tx, q, pointer) {
      await planSearch(tx, parseSearchQuery(q, pointer))
    },
    async ids({ slug }, { q, recordTypes, skillId, from, before }) {
      const query = parseSearchQuery(q)
      const scope: Scope = {
        recordId: recordIdIn(q),
        recordTypes: recordTypes.filter((type) => searchedTypes.includes(type)),
        skillId,
        fromId: from === undefined ? recordIdFloor(-1, 0) : recordIdFloorOf(from),
        beforeId: before === undefined ? lastId : recordIdFloorOf(before),
        includePurged: false,
        now: clock.next().createdAt,
      }
      if (scope.recordTypes.length === 0) return []
      // One page has all matches: the ranked ones, and the record whose id is the query.
      const page = { after: undefined, weights: undefined, count: rankedMax.byRank + 1 }
      // The time limit of the job applies, because an export of many matches takes longer than a page of a search.
      const { matches } = await database.withTenant(slug, (tx) => find(tx, query, scope, page), readMode)
      return [...new Set(matches.map(({ record_id }) => record_id))].sort()
    },
    async search(caller, parameters) {
      const { tenant } = caller
      const query = parseSearchQuery(parameters.q)
      const now = clock.next().createdAt
      const scope = scopeOf(caller, parameters, now)
      const binding = bindingOf(caller, parameters)
      const from = parameters.cursor === undefined ? undefined : openCursor(cursorKey, binding, parameters.cursor)
      const position = from as unknown as (Position & { weights?: number[] }) | undefined
      const limit = parameters.limit ?? searchPageSizeDefault
      if (scope.recordTypes.length === 0) {
        return pageText([], { next_cursor: null, ...partialOf(tenant) })
      }
      const page = { after: position, weights: position?.weights, count: limit + 1 }
      const { plan, shown, rows, hasMore, isTruncated } = await database.withTenant(
        tenant.slug,
        async (tx) => {
          const { plan, matches, isTruncated } = await find(tx, query, scope, page)
          const shown = withinBytes(matches.slice(0, limit))
          const rows = await rowsOf(tx, shown, now)
          return { plan, shown, rows, hasMore: shown.length < matches.length, isTruncated }
        },
        searchMode,
      )
      const texts = await resultsOf(tenant, rows, query)
      const yieldIfLong = createEventLoopYielder()
      const marked = await wordsToMark(tenant, plan, texts)
      const scores = new Map(shown.map(({ record_id, score }) => [record_id, score]))
      const results: string[] = []
      for (const { id, record, candidates } of texts) {
        const snippet = JSON.stringify(snippetOf(candidates, marked))
        results.push(`{"record":${record},"score":${Number(scores.get(id))},"snippet":${snippet}}`)
        await yieldIfLong()
      }
      const last = hasMore ? shown.at(-1) : undefined
      const next = last && { record_id: last.record_id, score: last.score, ...weightsOf(plan) }
      return pageText(results, {
        next_cursor: next ? signCursor(cursorKey, binding, next) : null,
        ...(results.length > 0 && { match: plan.match }),
        ...(isTruncated && { truncated: true }),
        ...partialOf(tenant),
      })
    },
  }
}

interface ResultText {
  id: string
  /** The record as JSON. */
  record: string
  candidates: readonly Candidates[]
}

/** Returns the texts of a page. Yields between records: a long one takes milliseconds. */
async function resultsOf(
  { slug, mode }: Tenant,
  rows: readonly AnsweredRecord[],
  { units }: SearchQuery,
): Promise<ResultText[]> {
  const yieldIfLong = createEventLoopYielder()
  const words = units.flatMap((unit) => unit.words)
  const results: ResultText[] = []
  for (const row of rows) {
    const texts = searchedTexts(parseCanonical(row.canonical) ?? {}, mode === 'B', snippetLengthMax)
    results.push({ id: row.record_id, record: responseText(slug, row), candidates: candidatesOf(texts, words) })
    await yieldIfLong()
  }
  return results
}

interface PageRequest {
  after: Position | undefined
  /** The weights of the words in the earlier pages, if some words sufficed. */
  weights: readonly number[] | undefined
  count: number
}

function weightsOf({ cursorWeights }: Plan) {
  return cursorWeights === undefined ? {} : { weights: [...cursorWeights] }
}

function partialOf({ mode }: Tenant): Pick<SearchAnswer, 'partial'> {
  return mode === 'B' ? { partial: 'content is encrypted' } : {}
}

/** @param results as JSON */
function pageText(results: readonly string[], others: Omit<SearchAnswer, 'results'>): string {
  return `{"results":[${results.join(',')}],${JSON.stringify(others).slice(1)}`
}

/** Returns the first matches, at least one, whose records fit into a response. */
function withinBytes(matches: readonly Match[]): Match[] {
  let bytes = 0
  const end = matches.findIndex((match, at) => {
    bytes += match.bytes
    return at > 0 && bytes > recordsResponseBytesMax
  })
  return matches.slice(0, end < 0 ? undefined : end)
}

/** Returns the record id that a query consists of. */
function recordIdIn(q: string): string | undefined {
  return uuid.exec(q)?.[1]?.toLowerCase()
}

function scopeOf(caller: Caller, parameters: SearchParameters, now: string): Scope {
  const errors: PointedError[] = []
  const idFloor = (name: 'created_at__gte' | 'created_at__lte', addedMicros: number) => {
    const text = parameters[name]
    if (text === undefined) return undefined
    const time = parseTimestamp(text)
    if (time)
      return recordIdFloor(
        time.epochMs + Math.floor((time.microsOfMs + addedMicros) / 1000),
        (time.microsOfMs + addedMicros) % 1000,
      )
    errors.push({ pointer: `/query/${name}`, detail: 'must be an RFC 3339 timestamp; a `+` is written %2B in a query' })
    return undefined
  }
  const visible = visibleTypes(caller.scopes, parameters.record_type) ?? recordTypes
  const scope: Scope = {
    recordId: recordIdIn(parameters.q),
    recordTypes: visible.filter((type) => searchedTypes.includes(type)),
    skillId: parameters.skill_id,
    fromId: idFloor('created_at__gte', 0) ?? recordIdFloor(-1, 0),
    beforeId: idFloor('created_at__lte', 1) ?? lastId,
    includePurged: parameters.include_purged ?? false,
    now,
  }
  if (errors.length > 0) throw validationFailed(errors)
  return scope
}

/** Returns the binding of a cursor. The page size is not bound, so clients may change it between pages. */
function bindingOf({ tenant }: Caller, parameters: SearchParameters): CursorBinding {
  const { cursor: _cursor, limit: _limit, include_purged = false, ...query } = parameters
  return { tenant: tenant.slug, operation: 'searchRecords', query: { ...query, include_purged } }
}
