import { webhookBodyCharactersKept } from '../../../../contract/limits.ts'
import { type AnswerHeaders, headerValue, type PostAnswer } from '../../../outbound/guarded-post.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'

const headersMax = 50
const headerCharactersMax = 4 * 1024
/** Headers that are not logged: they concern a browser. */
const leftOut: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2'])

/** Returns the part of a response that is logged: status, the first headers, the beginning of a text body. */
export function loggedResponse({ status, headers, beginning }: PostAnswer): NonNullable<DeliveryAttempt['response']> {
  const body = bodyText(headers, beginning)
  return { status, headers: firstHeaders(headers), ...(body !== undefined && { body }) }
}

function firstHeaders(headers: AnswerHeaders): Record<string, string> {
  const kept: [string, string][] = []
  let room = headerCharactersMax
  for (const [name, value] of Object.entries(headers)) {
    if (leftOut.has(name) || value === undefined) continue
    const text = printable(Array.isArray(value) ? value.join(', ') : value)
    room -= name.length + text.length
    if (room < 0 || kept.length === headersMax) break
    kept.push([name, text])
  }
  // Unlike assignment, `fromEntries` makes `__proto__` an ordinary member.
  return Object.fromEntries(kept)
}

/** Returns the body as text; undefined if its headers declare a compressed or non-text body. */
function bodyText(headers: AnswerHeaders, beginning: Buffer): string | undefined {
  if (beginning.length === 0) return undefined
  const encoding = headers['content-encoding'] ?? 'identity'
  const type = headerValue(headers, 'content-type') ?? 'text/plain'
  if (encoding !== 'identity' || !/^text\/|[/+](json|xml|x-www-form-urlencoded)\b/i.test(type)) return undefined
  // Cuts between characters, not inside one.
  const characters = [...printable(beginning.toString('utf8'))].slice(0, webhookBodyCharactersKept)
  return characters.join('')
}

/** Replaces control characters: PostgreSQL accepts no NUL in JSON, and a terminal obeys others. */
function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => (/[\n\t]/.test(character) ? character : '\ufffd'))
}
