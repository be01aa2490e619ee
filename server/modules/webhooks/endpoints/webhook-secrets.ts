import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'
import type { WebhookRow } from './webhooks-store.ts'

/** Characters after `whsec_`: 256 bits. */
const secretLength = 43

export interface WebhookSecrets {
  make(): string
  seal(tx: TenantTx, tenant: Tenant, webhookId: string, secret: string): Promise<Buffer>
  /** The newest first, and the former while it is good. Undefined once the newest is gone with its key. */
  open(tx: TenantTx, tenant: Tenant, row: SealedSecrets): Promise<string[] | undefined>
}

export type SealedSecrets = Pick<
  WebhookRow,
  'webhook_id' | 'secret_sealed' | 'former_secret_sealed' | 'former_secret_until'
>

/** Both secrets of an endpoint have one context: the newest becomes the former as it is. */
export function createWebhookSecrets(secrets: TenantSecrets): WebhookSecrets {
  const contextOf = (webhookId: string) => `hub.webhooks/${webhookId}`
  return {
    make: () => `whsec_${randomText(secretLength)}`,
    seal: (tx, tenant, webhookId, secret) => secrets.seal(tx, tenant, secret, contextOf(webhookId)),
    async open(tx, tenant, row) {
      const context = contextOf(row.webhook_id)
      const newest = await secrets.open(tx, tenant, row.secret_sealed, context)
      if (newest === undefined) return undefined
      if (row.former_secret_sealed === null || !isFormerGood(row)) return [newest]
      const former = await secrets.open(tx, tenant, row.former_secret_sealed, context)
      return former === undefined ? [newest] : [newest, former]
    },
  }
}

export function isFormerGood({ former_secret_until }: Pick<WebhookRow, 'former_secret_until'>): boolean {
  return former_secret_until !== null && Date.now() < Date.parse(former_secret_until)
}
