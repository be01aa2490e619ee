import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** Seals secrets of a tenant at rest: under its own key in Mode B, else under the master key. */
export interface TenantSecrets {
  /** @param context names what the secret belongs to, such as its table and id; opening needs the same */
  seal(tx: TenantTx, tenant: Tenant, plaintext: string, context: string): Promise<Buffer>
  /** Throws DomainError `hub-unavailable` while the tenant's key cannot be reached, `not-found` once it is destroyed. */
  open(tx: TenantTx, tenant: Tenant, sealed: Buffer, context: string): Promise<string>
}
