import type { Static } from 'typebox'
import type { RotatedInboundSecretSchema } from '../../../contract/response-schemas.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** The kind of sender: a chat platform, or the identity provider. */
export type InboundKind = 'connector' | 'scim'

export type RotatedInboundSecret = Static<ReturnType<typeof RotatedInboundSecretSchema>>

/**
 * Manages the secrets by which connections sign their messages. Every method works inside the transaction that creates
 * or removes the connection, under its lock.
 */
export interface InboundSecrets {
  /**
   * Creates a secret.
   *
   * @returns the secret, which is not shown again
   */
  make(tx: TenantTx, tenant: Tenant, connectionId: string, kind: InboundKind): Promise<string>
  /** Rotates the secret; the previous one is valid for another day. A connection without a secret gets its first. */
  rotate(tx: TenantTx, tenant: Tenant, connectionId: string, kind: InboundKind): Promise<RotatedInboundSecret>
  /** Removes the secret. From the commit on, the connection counts as unknown. */
  remove(tx: TenantTx, connectionId: string): Promise<void>
}
