import { validationFailed } from '../../../contract/domain-error.ts'
import { wordsOf } from './words.ts'

/** One word, or several that must follow each other. */
export interface SearchUnit {
  words: readonly string[]
  isExcluded: boolean
}

/** A query, rewritten so that PostgreSQL splits it as the indexed texts. */
export interface SearchQuery {
  /** JSON pointer of the query in the request. */
  pointer: string
  /** For websearch_to_tsquery. */
  strict: string
  units: readonly SearchUnit[]
  /** Whether the query is only a list of words, so that records with some of them are found if none has all. */
  isList: boolean
}

/** Matches an optional minus and a quoted or a bare part. A quotation mark without its partner is a space. */
const parts = /(?<minus>(?<=^|[\s"])-+)?(?:"(?<quoted>[^"]*)"|(?<bare>[^\s"]+))/gu

/**
 * Parses the syntax of web searches: words, "phrases", -excluded and `or`.
 *
 * @param pointer of the query in the request, for errors
 * @throws DomainError `validation-failed` if no word is searched for
 */
export function parseSearchQuery(q: string, pointer = '/query/q'): SearchQuery {
  const branches: SearchUnit[][] = [[]]
  let isList = true
  for (const { groups } of q.toWellFormed().normalize('NFC').matchAll(parts)) {
    const { minus, quoted, bare } = groups!
    if (bare?.toLowerCase() === 'or' && minus === undefined) {
      isList = false
      if (branches.at(-1)!.length > 0) branches.push([])
      continue
    }
    if (quoted !== undefined) isList = false
    const words = [...wordsOf(quoted ?? bare ?? '')].map(({ text }) => text)
    if (words.length > 0) branches.at(-1)!.push({ words, isExcluded: minus !== undefined })
  }
  const filled = branches.filter((units) => units.length > 0)
  if (filled.length === 0) throw withoutWord(pointer, 'must contain a letter or a digit')
  if (!filled.every(hasWanted))
    throw withoutWord(pointer, 'must contain a word that is not excluded, on each side of `or`')
  return {
    pointer,
    strict: filled.map((units) => units.map(textOf).join(' ')).join(' or '),
    units: filled.flat(),
    isList,
  }
}

const hasWanted = (units: readonly SearchUnit[]) => units.some(({ isExcluded }) => !isExcluded)

function textOf({ words, isExcluded }: SearchUnit): string {
  return `${isExcluded ? '-' : ''}"${words.join(' ')}"`
}

export function withoutWord(pointer: string, detail: string) {
  return validationFailed([{ pointer, detail }])
}
