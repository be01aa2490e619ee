/**
 * Returns the name of the first duplicate member of an object in a text that JSON.parse accepts; undefined if absent.
 * JSON.parse keeps the last duplicate and other readers the first, so such a text is ambiguous.
 */
export function duplicateMember(json: string): string | undefined {
  /** Names so far in each open object; null for an array. */
  const open: (Set<string> | null)[] = []
  let at = 0
  while (at < json.length) {
    const char = json.charCodeAt(at)
    if (char === quote) {
      const end = endOfString(json, at)
      const names = open.at(-1)
      if (names && isName(json, end)) {
        const name = JSON.parse(json.slice(at, end)) as string
        if (names.has(name)) return name
        names.add(name)
      }
      at = end
      continue
    }
    if (char === openBrace) open.push(new Set())
    else if (char === openBracket) open.push(null)
    else if (char === closeBrace || char === closeBracket) open.pop()
    at++
  }
  return undefined
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json.charCodeAt(at) !== quote) at += json.charCodeAt(at) === backslash ? 2 : 1
  return at + 1
}

/** In JSON, only the name of a member is followed by a colon. */
function isName(json: string, end: number): boolean {
  for (let at = end; at < json.length; at++) {
    const char = json.charAt(at)
    if (char === ':') return true
    if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') return false
  }
  return false
}
