import type { JsonValue } from '../../../../provenance/json.ts'
import { type CursorBinding, openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import type { SignInMethod } from '../auth-types.ts'
import type { SessionRow } from './sessions-store.ts'
import type { SessionPage } from './sessions-types.ts'

export interface SessionPageQuery {
  limit: number
  cursor?: string | undefined
}

export interface SessionPosition {
  before: { created_at: string; session_id: string } | undefined
  count: number
}

/** Returns a page of the sessions that `rowsAt` reads after a position. */
export async function pageOfSessions(
  page: { cursorKey: Buffer; binding: CursorBinding; query: SessionPageQuery; currentId: string | undefined },
  rowsAt: (position: SessionPosition) => Promise<SessionRow[]>,
): Promise<SessionPage> {
  const { cursorKey, binding, query, currentId } = page
  const before = query.cursor === undefined ? undefined : positionOf(openCursor(cursorKey, binding, query.cursor))
  const rows = await rowsAt({ before, count: query.limit + 1 })
  const { shown, next_cursor } = pageOf(rows, query.limit, (last) =>
    signCursor(cursorKey, binding, [last.created_at, last.session_id]),
  )
  return { items: shown.map((row) => itemOf(row, currentId)), next_cursor }
}

function itemOf(row: SessionRow, currentId: string | undefined): SessionPage['items'][number] {
  return {
    session_id: row.session_id,
    method: row.method as SignInMethod,
    created_at: row.created_at,
    expires_at: row.expires_at,
    address: row.address,
    ...(row.user_agent !== null && { user_agent: row.user_agent }),
    ...(row.client_name !== null && { client_name: row.client_name }),
    current: row.session_id === currentId,
  }
}

/** Reads the position from a cursor payload. This service signed it, so its shape is known. */
function positionOf(payload: JsonValue): { created_at: string; session_id: string } {
  const [createdAt, sessionId] = payload as [string, string]
  return { created_at: createdAt, session_id: sessionId }
}
