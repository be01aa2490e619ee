import { scimFilterLengthMax } from '../../../contract/limits.ts'
import type { CompareOperator } from '../roster/directory/directory-types.ts'
import type { AttributePath } from './attribute-paths.ts'

const ofText: ReadonlySet<CompareOperator> = new Set(['co', 'sw', 'ew'])
const ofOrder: ReadonlySet<CompareOperator> = new Set(['gt', 'ge', 'lt', 'le'])
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

export type FilterToken =
  | { kind: 'word'; text: string }
  | { kind: 'literal'; value: string | number }
  | { kind: '(' | ')' | '[' | ']' }

/** Signals an invalid filter or path. The caller turns the message into a response. */
export class FilterSyntaxError extends Error {
  override readonly name = 'FilterSyntaxError'
}

const wordStart = /[A-Za-z_$.]/
const wordEnd = /[^A-Za-z0-9_$.:-]/g
const numberEnd = /[^0-9.eE+-]/g
const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

/**
 * Splits a filter or a path (RFC 7644, figure 1) into its tokens. Reads each character a bounded number of times.
 *
 * @throws FilterSyntaxError
 */
export function filterTokens(text: string): FilterToken[] {
  if (text.length > scimFilterLengthMax) {
    throw new FilterSyntaxError(`it is longer than ${scimFilterLengthMax} characters`)
  }
  const tokens: FilterToken[] = []
  let at = 0
  while (at < text.length) {
    const character = text[at] as string
    if (character === ' ' || character === '\t') {
      at++
    } else if (character === '(' || character === ')' || character === '[' || character === ']') {
      tokens.push({ kind: character })
      at++
    } else if (character === '"') {
      const end = endOfString(text, at)
      tokens.push({ kind: 'literal', value: stringOf(text.slice(at, end), at) })
      at = end
    } else if (wordStart.test(character)) {
      const end = endOf(wordEnd, text, at)
      tokens.push({ kind: 'word', text: text.slice(at, end) })
      at = end
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      const end = endOf(numberEnd, text, at)
      tokens.push({ kind: 'literal', value: numberOf(text.slice(at, end), at) })
      at = end
    } else {
      throw new FilterSyntaxError(`it has a character that does not belong there at position ${at + 1}`)
    }
  }
  return tokens
}

function endOf(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from + 1
  return expression.exec(text)?.index ?? text.length
}

/** Returns the index after the closing quotation mark. A backslash escapes the next character. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length) {
    const character = text[at]
    if (character === '"') return at + 1
    at += character === '\\' ? 2 : 1
  }
  throw new FilterSyntaxError(`the text that begins at position ${from + 1} has no closing quotation mark`)
}

function stringOf(literal: string, at: number): string {
  let value: unknown
  try {
    value = JSON.parse(literal)
  } catch {
    throw new FilterSyntaxError(`the text at position ${at + 1} is not a JSON string`)
  }
  const text = String(value)
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new FilterSyntaxError(`the text at position ${at + 1} has NUL or half of a surrogate pair`)
  }
  return text
}

function numberOf(literal: string, at: number): number {
  const value = number.test(literal) ? Number(literal) : Number.NaN
  if (!Number.isFinite(value)) throw new FilterSyntaxError(`there is no number at position ${at + 1}`)
  return value
}

/**
 * Returns the value of a comparison, checked against the type of the attribute. Booleans may be text, as Entra sends
 * them.
 *
 * @throws FilterSyntaxError
 */
export function comparisonOf(
  path: AttributePath,
  operator: CompareOperator,
  token: FilterToken | undefined,
): string | number | boolean | null {
  const { type, name } = path.sub ?? path.attribute
  const value = literalOf(token)
  if (value === null) {
    if (operator === 'eq' || operator === 'ne') return null
    throw new FilterSyntaxError(`null can be compared by eq and ne only`)
  }
  if (type === 'boolean') {
    if (ofText.has(operator) || ofOrder.has(operator)) {
      throw new FilterSyntaxError(`${name} is true or false, and can be compared by eq and ne only`)
    }
    if (typeof value === 'boolean') return value
    if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
    throw new FilterSyntaxError(`${name} can be compared with true and false only`)
  }
  if (typeof value !== 'string') throw new FilterSyntaxError(`${name} is text, so the value needs quotation marks`)
  if (type === 'dateTime') {
    if (ofText.has(operator)) throw new FilterSyntaxError(`${name} is a time, and has no beginning or end`)
    if (!moment.test(value) || Number.isNaN(Date.parse(value))) {
      throw new FilterSyntaxError(`${name} can be compared with times such as "2026-11-21T08:00:00Z" only`)
    }
  }
  return value
}

function literalOf(token: FilterToken | undefined): string | number | boolean | null {
  if (token?.kind === 'literal') return token.value
  const word = token?.kind === 'word' ? token.text.toLowerCase() : ''
  if (word === 'true' || word === 'false') return word === 'true'
  if (word === 'null') return null
  throw new FilterSyntaxError('a comparison has no value: text in quotation marks, true, false or null')
}
