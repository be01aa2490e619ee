import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '../../contract/domain-error.ts'
import { pageSizeDefault } from '../../contract/limits.ts'
import type { JsonValue } from '../../provenance/json.ts'

/** The `deriveKey` purpose of the key that authenticates cursors. */
export const cursorKeyPurpose = 'cursors'

const macBytes = 32
const textLengthMax = 2048

/** Binds a cursor: it is valid only for the same tenant, operation and query. */
export interface CursorBinding {
  tenant: string
  operation: string
  /** The parameters of the query without `cursor`, and without `limit` unless the page size is part of the position. */
  query: Readonly<Record<string, string | number | boolean | undefined>>
}

/**
 * Returns a position in a list as opaque text: HMAC-SHA256 over binding and payload, then the payload, in base64url.
 *
 * @param key of `deriveKey(masterKey, cursorKeyPurpose)`
 */
export function signCursor(key: Buffer, boundTo: CursorBinding, payload: JsonValue): string {
  const content = Buffer.from(JSON.stringify(payload))
  return Buffer.concat([macOf(key, boundTo, content), content]).toString('base64url')
}

/**
 * Returns the payload of a cursor that {@link signCursor} made with the same binding.
 *
 * @throws DomainError `invalid-cursor` for anything else
 */
export function openCursor(key: Buffer, boundTo: CursorBinding, cursor: string): JsonValue {
  if (cursor.length > textLengthMax) throw invalidCursor()
  const bytes = Buffer.from(cursor, 'base64url')
  // The decoder skips characters outside of base64url, so only the exact spelling of the bytes is accepted.
  if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) throw invalidCursor()
  const content = bytes.subarray(macBytes)
  if (!timingSafeEqual(bytes.subarray(0, macBytes), macOf(key, boundTo, content))) throw invalidCursor()
  return JSON.parse(content.toString()) as JsonValue
}

/**
 * Returns a page of a list, from one row more than `limit`, which shows whether more exist.
 *
 * @param cursorAfter returns the cursor after the last row of a page
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorAfter: (last: Row) => string,
): { shown: readonly Row[]; next_cursor: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { shown: rows.slice(0, limit), next_cursor: last === undefined ? null : cursorAfter(last) }
}

/** The page of a list that a caller asks for, as `PageQuery` describes it. */
export interface PageRequest {
  limit?: number | undefined
  cursor?: string | undefined
}

/**
 * Opens a page of a list. Throws `invalid-cursor`.
 *
 * @param boundTo the list, and its filters without `limit` and `cursor`
 */
export function openPage<Position>(key: Buffer, boundTo: CursorBinding, asked: PageRequest) {
  const { limit = pageSizeDefault, cursor } = asked
  return {
    /** The position of the last row of the previous page; undefined for the first page. */
    after: cursor === undefined ? undefined : (openCursor(key, boundTo, cursor) as Position),
    /** The number of rows to read: one more than the page shows. */
    count: limit + 1,
    /** Returns the rows to show and the cursor of the next page. */
    of: <Row>(rows: readonly Row[], positionOf: (last: Row) => Position) =>
      pageOf(rows, limit, (last) => signCursor(key, boundTo, positionOf(last) as JsonValue)),
  }
}

function macOf(key: Buffer, { tenant, operation, query }: CursorBinding, content: Buffer): Buffer {
  const parameters = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const context = Buffer.from(JSON.stringify([tenant, operation, parameters]))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(context.length)
  return createHmac('sha256', key).update(length).update(context).update(content).digest()
}

function invalidCursor(): DomainError {
  return new DomainError(
    'invalid-cursor',
    'The cursor does not belong to this query of this tenant. Repeat the query without `cursor`.',
    { errors: [{ pointer: '/query/cursor', detail: 'is not a cursor of this query' }] },
  )
}
