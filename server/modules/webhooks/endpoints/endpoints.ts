import { DomainError } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RedactedUrl } from '../../../secrets/redacted-url.ts'
import { openSigningSecrets, type SealedSigningSecrets } from '../../../secrets/signing-secrets.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { AlertRule, Endpoint, Endpoints, WebhookFilters, WebhookThresholds } from '../webhooks-types.ts'
import * as store from './webhooks-store.ts'

/** Creates the endpoints for the other parts of webhooks. */
export function createEndpoints(deps: {
  governance: GovernanceLog
  secrets: WebhookSecrets
  describeUrl: (tenantId: string, url: string) => RedactedUrl
  /** Called after a commit that changed an endpoint. */
  changed: (tenantId: string) => void
}): Endpoints {
  const { governance, secrets, describeUrl, changed } = deps
  return {
    all: async (tx) => (await store.allWebhooks(tx)).map(endpointOf),

    async find(tx, webhookId) {
      const row = await store.findWebhook(tx, webhookId)
      if (!row) throw noSuchEndpoint()
      return endpointOf(row)
    },

    async secretsOf(tx, tenant, webhookId) {
      const row = await store.webhookById(tx, webhookId)
      return row === undefined || row.removed_at !== null ? undefined : secrets.open(tx, tenant, row)
    },

    async disable(tx, tenant, webhookId, reason) {
      if (!(await store.setDisabled(tx, webhookId, reason, formatTimestamp(Date.now())))) return
      const row = await store.webhookById(tx, webhookId)
      if (!row) return
      await governance.append(tx, tenant, {
        kind: 'webhook.disabled',
        subject: `webhook:${webhookId}`,
        details: {
          reason,
          ...describeUrl(tx.tenantId, row.url),
          failures: row.failures,
          ...(row.failing_since !== null && { failing_since: row.failing_since }),
        },
        actor: { service: 'webhooks' },
      })
      tx.afterCommit(() => changed(tx.tenantId))
    },

    async overflowed(tx, tenant, webhookId, openMax) {
      const row = await store.webhookById(tx, webhookId)
      if (!row) return
      await governance.append(tx, tenant, {
        kind: 'webhook.overflowed',
        subject: `webhook:${webhookId}`,
        details: { ...describeUrl(tx.tenantId, row.url), waiting_max: openMax },
        actor: { service: 'webhooks' },
      })
    },
  }
}

export function noSuchEndpoint(): DomainError {
  return new DomainError('not-found', 'The tenant has no endpoint with this id. GET /api/v1/webhooks lists them.')
}

function endpointOf(row: Awaited<ReturnType<typeof store.allWebhooks>>[number]): Endpoint {
  return {
    webhookId: row.webhook_id,
    events: row.events,
    filters: row.filters as WebhookFilters,
    thresholds: row.thresholds as WebhookThresholds,
    alerts: row.alerts as AlertRule[],
    enabled: row.disabled_at === null,
  }
}

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
