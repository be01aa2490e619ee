import { DomainError } from '../../../contract/domain-error.ts'
import { searchWordsMax } from '../../../contract/limits.ts'
import { recordTypes as recordTypeNames } from '../../../contract/literals.ts'
import { visibleTypes } from '../../../contract/record-visibility.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { findRecords } from '../../records/record-store.ts'
import { searchedTexts, searchedTypes } from './record-texts.ts'
import { parseSearchQuery } from './search-query.ts'
import { findByParts, findMatches, parseQuery, parseUnits } from './search-store.ts'
import { containing, type SuggestionRow } from './suggest-store.ts'

/** Finds records by id, by words, the last of which may be unfinished, and the newest also by parts of words. */
export interface RecordTitles {
  find(tx: TenantTx, caller: Caller, q: string, count: number): Promise<SuggestionRow[]>
}

const rankedMax = 1_000
const labelLengthMax = 120
/** Characters from which a label is made. */
const titleLengthMax = 1_000
/** Characters of the beginning of a word. A shorter one reads too much of the index, so only the whole word is found. */
const prefixLengthMin = 3
/** Characters of the beginning of an id. */
const idLengthMin = 8
/** Newest records whose titles are compared with parts of words, which no index finds. */
const readMax = 1_000
const firstId = '00000000-0000-0000-0000-000000000000'
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

interface Page {
  now: string
  count: number
}

export function createRecordTitles(deps: { clock: RecordClock }): RecordTitles {
  async function byWords(tx: TenantTx, words: readonly string[], recordTypes: readonly string[], page: Page) {
    const { language } = await parseQuery(tx, '')
    const last = words.at(-1)!
    // Somebody may still be typing the last word.
    const prefix = [...last].length < prefixLengthMin ? undefined : last
    const units = words.map((phrase) => ({ phrase, prefix: phrase === last ? prefix : undefined }))
    const wanted = (await parseUnits(tx, language, units)).filter((unit) => unit !== '')
    if (wanted.length === 0) return []
    const { matches } = await findMatches(
      tx,
      {
        wanted: wanted.map((unit) => `(${unit})`).join(' & '),
        ...{ recordId: undefined, skillId: undefined, includePurged: false },
        ...{ recordTypes, fromId: firstId, beforeId: lastId, ranked: rankedMax, now: page.now },
      },
      { after: undefined, count: page.count },
    )
    return matches.map((match) => match.record_id)
  }

  return {
    async find(tx, caller, q, count) {
      const recordTypes = (visibleTypes(caller.scopes) ?? recordTypeNames).filter((type) =>
        searchedTypes.includes(type),
      )
      const words = someOf([...new Set(wordsIn(q))])
      if (recordTypes.length === 0 || words.length === 0) return []
      const page = { now: deps.clock.next().createdAt, count }
      const found = new Set<string>()
      const add = (ids: readonly string[]) => ids.forEach((id) => void found.add(id))
      const range = idsThatBeginWith(q)
      if (range) add(await findByParts(tx, { ...page, recordTypes, patterns: [], ids: range, read: count }, count))
      if (found.size < count) add(await byWords(tx, words, recordTypes, page))
      if (found.size < count) {
        const any = { from: firstId, to: lastId }
        const patterns = words.map(containing)
        add(await findByParts(tx, { ...page, recordTypes, patterns, ids: any, read: readMax }, count))
      }
      const ids = [...found].slice(0, count)
      const rows = new Map((await findRecords(tx, ids, page.now)).map((row) => [row.record_id, row]))
      return ids.flatMap((id) => {
        const row = rows.get(id)
        return row ? [{ id, label: labelOf(row, caller.tenant.mode === 'B') }] : []
      })
    },
  }
}

/** Returns the first and the last id that begin with a text, or undefined if no id begins with it. */
function idsThatBeginWith(q: string): { from: string; to: string } | undefined {
  const text = q.trim().toLowerCase()
  if (text.length < idLengthMin || !firstId.startsWith(text.replace(/[0-9a-f]/g, '0'))) return undefined
  return { from: text + firstId.slice(text.length), to: text + lastId.slice(text.length) }
}

/** Returns the words of a text; none if it has no letter or digit. */
function wordsIn(q: string): string[] {
  try {
    return parseSearchQuery(q).units.flatMap(({ words }) => words)
  } catch (error) {
    if (error instanceof DomainError) return []
    throw error
  }
}

/** Returns the last word, after the longest of the others. */
function someOf(words: readonly string[]): string[] {
  if (words.length <= searchWordsMax) return [...words]
  const others = words.slice(0, -1).sort((a, b) => b.length - a.length)
  return [...others.slice(0, searchWordsMax - 1), words.at(-1)!]
}

/** Returns the title of a record, or its type and id. */
function labelOf(row: { record_id: string; record_type: string; canonical: string }, isEncrypted: boolean): string {
  const members = parseCanonical(row.canonical)
  const title = members && searchedTexts(members, isEncrypted, titleLengthMax)[0]?.text
  const label = title?.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return (label || `${row.record_type} ${row.record_id}`).slice(0, labelLengthMax).toWellFormed()
}
