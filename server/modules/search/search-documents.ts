import { parseCanonical } from '../../records/record-response.ts'
import { searchedTexts, searchedTypes } from './record-texts.ts'
import type { SearchDocument } from './search-documents-store.ts'
import type { IndexedRecord } from './search-types.ts'
import { wordsOf } from './words.ts'

/** Bytes of the words of a record. Pairs of characters and NFKC lengthen a text. */
const bytesMax = 600_000

/** Returns the words of the records that are searched. */
export function documentsOf(records: readonly IndexedRecord[], isEncrypted: boolean): SearchDocument[] {
  return records
    .filter(({ recordType }) => searchedTypes.includes(recordType))
    .map(({ recordId, recordType, canonical }) => {
      const members = parseCanonical(canonical)
      const words = { A: [] as string[], B: [] as string[], C: [] as string[], D: [] as string[] }
      let bytes = 0
      for (const { weight, text } of members ? searchedTexts(members, isEncrypted) : []) {
        for (const word of wordsOf(text)) {
          // Each word takes up to four bytes for its place.
          bytes += Buffer.byteLength(word.text) + 4
          if (bytes > bytesMax) break
          words[weight].push(word.text)
        }
      }
      const { A, B, C, D } = words
      return { recordId, recordType, words: { A: A.join(' '), B: B.join(' '), C: C.join(' '), D: D.join(' ') } }
    })
}
