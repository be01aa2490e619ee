/** A parameter whose percent-encoding is not UTF-8. */
export const malformed = Symbol('malformed')

export type QueryValue = string | typeof malformed
export type Query = Record<string, QueryValue | QueryValue[]>

/** Parses a query string (WHATWG form encoding). A repeated parameter is an array. Never throws. */
export function parseQuery(text: string): Query {
  const query: Query = Object.create(null)
  if (text === '') return query
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const rawName = equals < 0 ? pair : pair.slice(0, equals)
    const name = decode(rawName)
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    if (name === malformed) {
      query[rawName] = malformed
      continue
    }
    const earlier = query[name]
    if (earlier === undefined) query[name] = value
    else if (Array.isArray(earlier)) earlier.push(value)
    else query[name] = [earlier, value]
  }
  return query
}

function decode(text: string): QueryValue {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return malformed
  }
}
