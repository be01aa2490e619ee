import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { openSigningSecrets, type SealedSigningSecrets } from '../../../secrets/signing-secrets.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'

export interface WebhookSecrets {
  seal(tx: TenantTx, tenant: Tenant, webhookId: string, secret: string): Promise<Buffer>
  /**
   * Returns the secrets, the newest first, and the former one while it is valid. Undefined once the newest was
   * destroyed with its key.
   */
  open(tx: TenantTx, tenant: Tenant, row: SealedSigningSecrets & { webhook_id: string }): Promise<string[] | undefined>
}

/** Both secrets of an endpoint share one context, so the newest becomes the former one unchanged. */
export function createWebhookSecrets(secrets: TenantSecrets): WebhookSecrets {
  const contextOf = (webhookId: string) => `hub.webhooks/${webhookId}`
  return {
    seal: (tx, tenant, webhookId, secret) => secrets.seal(tx, tenant, secret, contextOf(webhookId)),
    async open(tx, tenant, row) {
      const context = contextOf(row.webhook_id)
      const { current, former } = await openSigningSecrets(row, (sealed) => secrets.open(tx, tenant, sealed, context))
      if (current === undefined) return undefined
      return former === undefined ? [current] : [current, former]
    },
  }
}
