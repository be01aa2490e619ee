import {
  getLocation,
  type JSONPath,
  type JSONVisitor,
  type ParseErrorCode,
  printParseErrorCode,
  visit,
} from 'jsonc-parser'
import type { PointedError } from '../../contract/domain-error.ts'

/** The slow look at a JSON text that is known to be wrong, or may be: it finds the places and names them. */

const reportedMax = 100
/**
 * Members, values and brackets that are looked at: some ten times those of the largest ordinary body. Looking takes up
 * to a microsecond for each, and nothing else is answered meanwhile.
 */
const looksMax = 200_000

/** Ends a visit, which its library has no other way to do. */
const enough = Symbol('enough')

/** A path as a JSON pointer (RFC 6901). */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

export interface JsonBreaches {
  duplicates: PointedError[]
  values: PointedError[]
}

/**
 * Everything in valid JSON that the service does not take: repeated members, and values it cannot keep. In a very large
 * text it looks at the beginning only.
 */
export function findBreaches(text: string): JsonBreaches {
  const duplicates: PointedError[] = []
  const values: PointedError[] = []
  const open: Set<string>[] = []
  const add = (list: PointedError[], path: JSONPath, detail: string) => {
    if (list.length < reportedMax) list.push({ pointer: jsonPointer(path), detail })
  }
  let looks = 0
  const look = () => {
    looks++
    if (looks > looksMax) throw enough
  }
  visitUntilEnough(text, {
    onArrayBegin: look,
    onObjectBegin: () => {
      look()
      open.push(new Set())
    },
    onObjectEnd: () => {
      open.pop()
    },
    onObjectProperty: (name, _offset, _length, _line, _character, path) => {
      look()
      const names = open.at(-1)
      if (names?.has(name)) add(duplicates, [...path(), name], 'is there more than once')
      names?.add(name)
      const breach = name === '__proto__' ? 'is a name that is not allowed' : breachOfText(name)
      if (breach) add(values, [...path(), name], breach)
    },
    onLiteralValue: (value: unknown, offset, length, _line, _character, path) => {
      look()
      const breach =
        typeof value === 'string'
          ? breachOfText(value)
          : typeof value === 'number'
            ? breachOfNumber(text.slice(offset, offset + length))
            : undefined
      if (breach) add(values, path(), breach)
    },
  })
  return { duplicates, values }
}

function visitUntilEnough(text: string, visitor: JSONVisitor): void {
  try {
    visit(text, visitor)
  } catch (error) {
    if (error !== enough) throw error
  }
}

function breachOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character NUL (U+0000)'
  if (!text.isWellFormed()) return 'must not contain half of a surrogate pair'
  return undefined
}

function breachOfNumber(literal: string): string | undefined {
  if (!Number.isFinite(Number(literal))) return 'must be a number that fits a double'
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(Number(literal))) {
    return 'must be an integer between -9007199254740991 and 9007199254740991 (send larger ones as text)'
  }
  return undefined
}

/** Pointer to what is nested at `offset`, the opening bracket of an array or object. */
export function pointerAt(text: string, offset: number): string {
  return jsonPointer(getLocation(text.slice(0, offset + 1), offset).path)
}

/** Where and what the first syntax error is, in words. Looks no deeper than the text is nested. */
export function describeSyntaxError(text: string): string {
  let found: { code: ParseErrorCode; line: number; column: number } | undefined
  visit(
    text,
    {
      onError: (code, _offset, _length, line, character) => {
        found ??= { code, line: line + 1, column: character + 1 }
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  )
  if (found === undefined) return 'it is not JSON'
  const words = printParseErrorCode(found.code).replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return `${words.toLowerCase()} at line ${found.line}, column ${found.column}`
}
