import { DomainError } from '../../../contract/domain-error.ts'
import { recordTypes } from '../../../contract/literals.ts'
import { visibleTypes } from '../../../contract/record-visibility.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import { type RecordClock, recordIdFloor } from '../../records/record-clock.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { findRecords } from '../../records/record-store.ts'
import { searchedTexts, searchedTypes } from './record-texts.ts'
import { parseSearchQuery } from './search-query.ts'
import { findMatches, parseQuery, parseUnits } from './search-store.ts'
import type { SuggestionRow } from './suggest-store.ts'

/** Finds records by their words, the last of which may be unfinished. */
export interface RecordTitles {
  find(tx: TenantTx, caller: Caller, q: string, count: number): Promise<SuggestionRow[]>
}

const rankedMax = 1_000
const labelLengthMax = 120
/** Characters from which a label is made. */
const titleLengthMax = 1_000
/** Characters of the beginning of a word. A shorter one reads too much of the index, so only the whole word is found. */
const prefixLengthMin = 3
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export function createRecordTitles(deps: { clock: RecordClock }): RecordTitles {
  return {
    async find(tx, caller, q, count) {
      const types = (visibleTypes(caller.scopes) ?? recordTypes).filter((type) => searchedTypes.includes(type))
      const words = [...new Set(wordsIn(q))]
      if (types.length === 0 || words.length === 0) return []
      const { language } = await parseQuery(tx, '')
      const last = words.at(-1)!
      // Somebody may still be typing the last word.
      const prefix = [...last].length < prefixLengthMin ? undefined : last
      const units = words.map((phrase) => ({ phrase, prefix: phrase === last ? prefix : undefined }))
      const wanted = (await parseUnits(tx, language, units)).filter((unit) => unit !== '')
      if (wanted.length === 0) return []
      const now = deps.clock.next().createdAt
      const matches = await findMatches(
        tx,
        {
          wanted: wanted.map((unit) => `(${unit})`).join(' & '),
          recordId: undefined,
          recordTypes: types,
          skillId: undefined,
          fromId: recordIdFloor(-1, 0),
          beforeId: lastId,
          includePurged: false,
          ranked: rankedMax,
          now,
        },
        { after: undefined, count },
      )
      const ids = matches.map((match) => match.record_id)
      const rows = new Map((await findRecords(tx, ids, now)).map((row) => [row.record_id, row]))
      return ids.flatMap((id) => {
        const row = rows.get(id)
        return row ? [{ id, label: labelOf(row, caller.tenant.mode === 'B') }] : []
      })
    },
  }
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

/** Returns the title of a record, or its type and id. */
function labelOf(row: { record_id: string; record_type: string; canonical: string }, isEncrypted: boolean): string {
  const members = parseCanonical(row.canonical)
  const title = members && searchedTexts(members, isEncrypted, titleLengthMax)[0]?.text
  const label = title?.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return (label || `${row.record_type} ${row.record_id}`).slice(0, labelLengthMax).toWellFormed()
}
