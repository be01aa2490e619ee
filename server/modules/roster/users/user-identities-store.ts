import type { TenantTx } from '../../../db/database.ts'
import { identityRows } from '../../../db/proven-rows.ts'
import { findRow } from '../../../db/tenant-rows.ts'
import type { ProvenIdentity } from '../roster-types.ts'

type Identity = Pick<ProvenIdentity, 'connectionId' | 'subject'>

/** Returns the user linked to an identity of a provider. */
export async function ownerOf(tx: TenantTx, { connectionId, subject }: Identity): Promise<string | undefined> {
  const row = await findRow(tx, 'hub.user_identities', ['connection_id', 'subject', 'user_id', 'proof'], {
    connection_id: connectionId,
    subject,
  })
  return tx.proofs.sound(identityRows, tx.tenantId, row)?.user_id
}

/** Links an identity. Returns false if it has an owner, or the user has another identity of the connection. */
export async function linkIdentity(tx: TenantTx, identity: Identity, userId: string, now: string): Promise<boolean> {
  const row = { connection_id: identity.connectionId, subject: identity.subject, user_id: userId }
  const proof = tx.proofs.of(identityRows, tx.tenantId, row)
  const inserted = await tx.db
    .insertInto('hub.user_identities')
    .values({ tenant_id: tx.tenantId, ...row, created_at: now, proof })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/**
 * Returns whether the caller may be a deactivated user with that address, in any of its stored forms. Excludes users
 * known to be somebody else by an identity of that connection.
 */
export async function hasFormerUserAt(tx: TenantTx, emailKeys: readonly string[], connectionId = ''): Promise<boolean> {
  const { rows } = await tx.client.query(
    `select 1 from hub.users u
     where u.tenant_id = $1 and u.email_key = any($2::text[]) and u.deactivated_at is not null
       and not exists (select from hub.user_identities i
                       where i.tenant_id = $1 and i.user_id = u.user_id and i.connection_id = $3)
     limit 1`,
    [tx.tenantId, emailKeys, connectionId],
  )
  return rows.length > 0
}
