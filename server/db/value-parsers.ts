import pg from 'pg'

const { builtins } = pg.types

/**
 * Parses a timestamptz to RFC 3339 in UTC with six fractional digits. A JavaScript Date would cut the microseconds, and
 * with them the order of records. It relies on the session's `timezone=UTC` and `datestyle=ISO`.
 * A time outside of the years 1 to 9999, such as `infinity`, becomes the nearest time of this form. The service stores
 * none, so somebody has edited it. A read must then neither fail nor return an invalid timestamp.
 */
function parseTimestamp(text: string): string {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text)
  if (found) return `${found[1]}T${found[2]}.${(found[3] ?? '').padEnd(6, '0')}Z`
  return text.startsWith('-') || text.endsWith(' BC') ? '0001-01-01T00:00:00.000000Z' : '9999-12-31T23:59:59.999999Z'
}

/** Parses a bigint to a number; throws rather than round. */
function parseSafeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`bigint beyond 2^53-1: ${text}`)
  return value
}

const asText = (text: string): string => text

const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, parseSafeInteger],
  [builtins.TIMESTAMPTZ, parseTimestamp],
  [builtins.TIMESTAMP, asText],
  [builtins.DATE, asText],
])

/** Parses column values to JavaScript values, on every connection. */
export const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) ||
    pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
}
