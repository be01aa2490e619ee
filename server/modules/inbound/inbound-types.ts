import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** A chat platform, or the identity provider. */
export type InboundKind = 'connector' | 'scim'

/** How messages of a connection come in; in the names of the answers that show it. */
export interface InboundConnection {
  connection_id: string
  /** Once: of the answer that made it. */
  secret?: string
}

/** In the names of the answer. */
export interface RotatedInboundSecret {
  connection_id: string
  secret: string
  /** RFC 3339; absent where there was none before. */
  former_secret_until?: string
}

/**
 * What connections sign their messages with. Everything works inside the transaction that makes or removes the
 * connection, under its lock.
 */
export interface InboundSecrets {
  /** @returns the secret, which nothing shows again */
  make(tx: TenantTx, tenant: Tenant, connectionId: string, kind: InboundKind): Promise<string>
  /** The secret before stays good for a day; of a connection that has none yet, this is its first. */
  rotate(tx: TenantTx, tenant: Tenant, connectionId: string, kind: InboundKind): Promise<RotatedInboundSecret>
  /** From its commit on the connection is as unknown as any other. */
  remove(tx: TenantTx, connectionId: string): Promise<void>
}
