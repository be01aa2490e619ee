import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

/** `[generation, milliseconds since 1970]`: the generation that was replaced, and the time of that. */
type Rotation = [generation: number, atMs: number]

type Stored = Omit<TenantTables['hub.refresh_families'], 'tenant_id' | 'rotations'>

type FamilyRow = Stored & { rotations: Rotation[] }

export type SessionRow = Omit<TenantTables['hub.sessions'], 'tenant_id'>

/** A session that was just ended. */
export type EndedSession = Pick<SessionRow, 'session_id' | 'user_id' | 'client_name'>

export async function insertSession(
  tx: TenantTx,
  row: Omit<SessionRow, 'ended_at' | 'client_name' | 'code_hash'>,
  client: Pick<SessionRow, 'client_name' | 'code_hash'> = { client_name: null, code_hash: null },
): Promise<void> {
  await tx.db
    .insertInto('hub.sessions')
    .values({ tenant_id: tx.tenantId, ...row, ...client, ended_at: null })
    .execute()
}

/** Makes the authorization of a client live. Returns false if the code was redeemed before, or the session ended. */
export async function redeemCode(tx: TenantTx, sessionId: string, codeHash: Buffer, now: string): Promise<boolean> {
  const updated = await tx.db
    .updateTable('hub.sessions')
    .set({ code_hash: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('code_hash', '=', codeHash)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return Number(updated.numUpdatedRows) > 0
}

export function sessionById(tx: TenantTx, sessionId: string): Promise<SessionRow | undefined> {
  return tx.db
    .selectFrom('hub.sessions')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
}

/** Locks a session until the transaction ends, so other changes of it or its families wait. */
export function lockSession(tx: TenantTx, sessionId: string): Promise<SessionRow | undefined> {
  return tx.db
    .selectFrom('hub.sessions')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst()
}

/** Ends a session. Returns it if it existed and was live. */
export function endSession(tx: TenantTx, sessionId: string, now: string): Promise<EndedSession | undefined> {
  return tx.db
    .updateTable('hub.sessions')
    .set({ ended_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['session_id', 'user_id', 'client_name'])
    .executeTakeFirst()
}

/** Ends all sessions of a person and returns those that were live. */
export function endSessionsOf(tx: TenantTx, userId: string, now: string): Promise<EndedSession[]> {
  return tx.db
    .updateTable('hub.sessions')
    .set({ ended_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['session_id', 'user_id', 'client_name'])
    .execute()
}

/** Returns live sessions, newest first, after a position in that order. */
export async function liveSessionsOf(
  tx: TenantTx,
  userId: string,
  page: { now: string; before: { created_at: string; session_id: string } | undefined; count: number },
): Promise<SessionRow[]> {
  const { now, before, count } = page
  const live = tx.db
    .selectFrom('hub.sessions')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('code_hash', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('session_id', 'desc')
    .limit(count)
  if (before === undefined) return live.execute()
  return live
    .where((where) =>
      where(where.refTuple('created_at', 'session_id'), '<', where.tuple(before.created_at, before.session_id)),
    )
    .execute()
}

/** Deletes at most `count` expired sessions with their families, and returns their number. */
export async function deleteExpiredSessions(tx: TenantTx, expiredBefore: string, count: number): Promise<number> {
  const rows = await tx.db
    .selectFrom('hub.sessions')
    .select('session_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
    .limit(count)
    .execute()
  if (rows.length === 0) return 0
  const ids = rows.map((row) => row.session_id)
  for (const table of ['hub.refresh_families', 'hub.sessions']) {
    await tx.client.query(`delete from ${table} where tenant_id = $1 and session_id = any($2::text[])`, [
      tx.tenantId,
      ids,
    ])
  }
  return ids.length
}

export async function insertFamily(tx: TenantTx, row: Omit<FamilyRow, 'rotations'>): Promise<void> {
  await tx.db
    .insertInto('hub.refresh_families')
    .values({ tenant_id: tx.tenantId, ...row, rotations: JSON.stringify([]) })
    .execute()
}

export async function lockFamily(tx: TenantTx, familyId: string): Promise<FamilyRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.refresh_families')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('family_id', '=', familyId)
    .forUpdate()
    .executeTakeFirst()
  return row && { ...row, rotations: row.rotations as Rotation[] }
}

export async function advanceFamily(
  tx: TenantTx,
  row: Pick<FamilyRow, 'family_id' | 'generation' | 'rotated_at' | 'rotations'>,
): Promise<void> {
  await tx.db
    .updateTable('hub.refresh_families')
    .set({ generation: row.generation, rotated_at: row.rotated_at, rotations: JSON.stringify(row.rotations) })
    .where('tenant_id', '=', tx.tenantId)
    .where('family_id', '=', row.family_id)
    .execute()
}

/** Deletes all refresh families of the session except the `keep` most recently used ones. */
export async function dropFamilies(tx: TenantTx, sessionId: string, keep: number): Promise<void> {
  await tx.db
    .deleteFrom('hub.refresh_families')
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('family_id', 'in', (from) =>
      from
        .selectFrom('hub.refresh_families')
        .select('family_id')
        .where('tenant_id', '=', tx.tenantId)
        .where('session_id', '=', sessionId)
        .orderBy('rotated_at', 'desc')
        .orderBy('family_id')
        .offset(keep),
    )
    .execute()
}
