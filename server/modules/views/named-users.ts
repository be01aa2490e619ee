import type { JsonValue } from '../../../provenance/json.ts'

const userPrefix = 'user:'

/**
 * Users (`user:…`) that a page's query names: as the value of a parameter, in a list with commas, or in a value that is
 * JSON. Each once.
 */
export function usersNamedIn(query: string): string[] {
  const texts = [...new URLSearchParams(query).values()].flatMap((value) => [
    value,
    // A user's id may have commas itself, so the whole value counts as well.
    ...value.split(','),
    ...textsIn(parsed(value)),
  ])
  return [...new Set(texts.filter((text) => text.startsWith(userPrefix)))]
}

function parsed(value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue
  } catch {
    return null
  }
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((member) => (member === undefined ? [] : textsIn(member)))
}
