import type { SearchedText } from './record-texts.ts'
import { type Word, wordsOf } from './words.ts'

/** Characters of a snippet, about, and before its first match. */
const snippetLength = 240
const leadLength = 60
/** Characters of a record's texts in which matches are looked for. */
export const snippetLengthMax = 20_000

/** A text, and its words that may match. */
export interface Candidates {
  text: string
  hits: readonly Word[]
}

/**
 * Returns the first text and those with words that begin like a word of the query: a dictionary may treat these alike.
 */
export function candidatesOf(texts: readonly SearchedText[], queryWords: readonly string[]): Candidates[] {
  const beginnings = new Set(queryWords.map(beginningOf))
  const candidates = texts.map(({ text }) => {
    return { text, hits: [...wordsOf(text)].filter((word) => beginnings.has(beginningOf(word.text))) }
  })
  return candidates.filter(({ hits }, at) => at === 0 || hits.length > 0)
}

function beginningOf(word: string): string {
  return word.slice(0, 3)
}

/**
 * Returns a passage of the text with the most different matches, as plain text with `‹` and `›` around matches. Without
 * a match it is the beginning of the first text.
 */
export function snippetOf(candidates: readonly Candidates[], matching: ReadonlySet<string>): string {
  let best: { text: string; hits: Word[]; score: number } | undefined
  for (const { text, hits: words } of candidates) {
    const hits = words.filter((word) => matching.has(word.text))
    const score = new Set(hits.map((word) => word.text)).size
    if (best === undefined || score > best.score) best = { text, hits, score }
  }
  return best === undefined ? '' : passage(best.text, joined(best.hits))
}

/** Joins overlapping pairs of characters, and adjoining matches. */
function joined(hits: readonly Word[]): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = []
  for (const { start, end } of hits) {
    const last = spans.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else spans.push({ start, end })
  }
  return spans
}

function passage(text: string, spans: readonly { start: number; end: number }[]): string {
  const from = startOfWord(text, Math.max(0, (spans[0]?.start ?? 0) - leadLength))
  const until = endOfWord(text, from + snippetLength)
  let marked = ''
  let at = from
  for (const { start, end } of spans) {
    if (end > until) break
    marked += `${clean(text.slice(at, start))}‹${clean(text.slice(start, end))}›`
    at = end
  }
  marked += clean(text.slice(at, until))
  return `${from > 0 ? '…' : ''}${marked.trim()}${until < text.length ? '…' : ''}`
}

function startOfWord(text: string, at: number): number {
  if (at === 0) return 0
  const space = text.slice(at, at + leadLength / 2).search(/\s/u)
  return space < 0 ? wholeCharacter(text, at) : at + space + 1
}

function endOfWord(text: string, at: number): number {
  if (at >= text.length) return text.length
  const space = text.lastIndexOf(' ', at)
  return space > at - leadLength / 2 ? space : wholeCharacter(text, at)
}

/** Moves a position out of the middle of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000 ? at + 1 : at
}

/** Replaces control characters and white space by a space, and the marks by similar characters. */
function clean(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('‹', '<')
    .replaceAll('›', '>')
}
