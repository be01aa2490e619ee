import type { JsonValue } from '../../../provenance/json.ts'

const userPrefix = 'user:'

/**
 * Returns the users (`user:…`) that a page's query contains, without duplicates: as a parameter's value, in a
 * comma-separated list, or inside JSON.
 */
export function usersNamedIn(query: string): string[] {
  const texts = [...new URLSearchParams(query).values()].flatMap((value) => [
    value,
    // A user's id may contain commas itself, so the whole value counts as well.
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
