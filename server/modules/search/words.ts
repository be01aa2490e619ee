/** A word of a text, in the form in which it is indexed. */
export interface Word {
  text: string
  /** The place in the text that was passed, in NFC. */
  start: number
  end: number
}

/** Letters, digits and marks. The possessive `'s` belongs to the match, but not to the word. */
const runs = /([\p{L}\p{N}\p{M}]+)(?:['’]s(?![\p{L}\p{N}\p{M}]))?/giu
/** Scripts without spaces between words, and Korean, whose words have endings: found by pairs of characters. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〆]+/gu
const notOfWords = /[^\p{L}\p{N}\p{M}]+/gu
/** Longer words are cut, in texts and queries alike. */
const wordLengthMax = 64

/**
 * Splits a text in NFC into words. Code-like words such as `fin.invoice-check` are split at their punctuation; a query
 * finds the whole as a phrase. Runs of an unspaced script are split into overlapping pairs of characters.
 */
export function* wordsOf(text: string): Generator<Word> {
  for (const match of text.matchAll(runs)) {
    const run = match[1]!
    let from = 0
    for (const part of run.matchAll(unspaced)) {
      if (part.index > from) yield* word(run.slice(from, part.index), match.index + from)
      yield* pairs(part[0], match.index + part.index)
      from = part.index + part[0].length
    }
    if (from < run.length) yield* word(run.slice(from), match.index + from)
  }
}

function* word(text: string, start: number): Generator<Word> {
  const normal = normalized(text)
  if (normal !== '') yield { text: normal, start, end: start + text.length }
}

function* pairs(run: string, start: number): Generator<Word> {
  const characters = [...run]
  if (characters.length === 1) return yield* word(run, start)
  let at = start
  for (let index = 0; index + 1 < characters.length; index += 1) {
    const pair = characters[index]! + characters[index + 1]!
    yield* word(pair, at)
    at += characters[index]!.length
  }
}

/** Lower case in NFKC. Database and dictionaries get only letters and digits, so every locale splits words alike. */
function normalized(text: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replace(notOfWords, '')
  return plain.slice(0, wordLengthMax).replace(/[\uD800-\uDBFF]$/, '')
}
