import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { formerSecretUntil, makeSigningSecret, openSigningSecrets } from '../../secrets/signing-secrets.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import {
  deleteConnectionEntry,
  deleteSecret,
  findSecret,
  type InboundSecretRow,
  insertConnectionEntry,
  putSecret,
} from './inbound-store.ts'
import type { InboundSecrets } from './inbound-types.ts'

/** {@link InboundSecrets} that also decrypts them. */
export interface InboundSecretVault extends InboundSecrets {
  /**
   * Decrypts the newest secret, and the previous one while it is valid; undefined once the tenant's key is destroyed.
   * Callers must not reveal which one matched. Throws DomainError `hub-unavailable` while the key is unreachable.
   */
  decrypt(tx: TenantTx, tenant: Tenant, row: InboundSecretRow): ReturnType<typeof openSigningSecrets>
}

export function createInboundSecrets({ secrets }: { secrets: TenantSecrets }): InboundSecretVault {
  const contextOf = (connectionId: string) => `hub.inbound_secrets/${connectionId}`

  async function store(
    tx: TenantTx,
    tenant: Tenant,
    of: Pick<InboundSecretRow, 'connection_id' | 'kind'>,
    before?: { row: InboundSecretRow; until: string },
  ): Promise<string> {
    const secret = makeSigningSecret()
    const now = formatTimestamp(Date.now())
    await putSecret(tx, {
      ...of,
      secret_sealed: await secrets.encrypt(tx, tenant, secret, contextOf(of.connection_id)),
      former_secret_sealed: before?.row.secret_sealed ?? null,
      former_secret_until: before?.until ?? null,
      created_at: before?.row.created_at ?? now,
      updated_at: now,
    })
    await insertConnectionEntry(tx, of.connection_id)
    return secret
  }

  return {
    make: (tx, tenant, connectionId, kind) => store(tx, tenant, { connection_id: connectionId, kind }),

    async rotate(tx, tenant, connectionId, kind) {
      const row = await findSecret(tx, connectionId)
      const of = { connection_id: connectionId, kind }
      if (row === undefined) return { connection_id: connectionId, secret: await store(tx, tenant, of) }
      const until = formerSecretUntil()
      const secret = await store(tx, tenant, of, { row, until })
      return { connection_id: connectionId, secret, former_secret_until: until }
    },

    async remove(tx, connectionId) {
      await deleteSecret(tx, connectionId)
      await deleteConnectionEntry(tx, connectionId)
    },

    decrypt: (tx, tenant, row) =>
      openSigningSecrets(row, (sealed) => secrets.decrypt(tx, tenant, sealed, contextOf(row.connection_id))),
  }
}
