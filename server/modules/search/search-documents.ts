import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import { indexColumnsOf } from '../../records/record-columns.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { searchedTexts, searchedTypes } from './record-texts.ts'
import type { SearchDocument } from './search-documents-store.ts'
import type { IndexedRecord } from './search-types.ts'
import { wordsOf } from './words.ts'

/** Bytes of the words of a record. Pairs of characters and NFKC lengthen a text. */
const bytesMax = 600_000

/** Returns the words of the records that are searched. Yields between records: a long text takes milliseconds. */
export async function documentsOf(records: readonly IndexedRecord[], isEncrypted: boolean): Promise<SearchDocument[]> {
  const yieldIfLong = createEventLoopYielder()
  const documents: SearchDocument[] = []
  for (const record of records) {
    if (!searchedTypes.includes(record.recordType)) continue
    documents.push(documentOf(record, isEncrypted))
    await yieldIfLong()
  }
  return documents
}

function documentOf({ recordId, recordType, canonical }: IndexedRecord, isEncrypted: boolean): SearchDocument {
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
  const { skillId } = indexColumnsOf(recordType, members ?? null)
  return { recordId, recordType, skillId, words: { A: A.join(' '), B: B.join(' '), C: C.join(' '), D: D.join(' ') } }
}
