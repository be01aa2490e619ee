import { DomainError } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RedactedUrl } from '../../../secrets/redacted-url.ts'
import { openSigningSecrets, type SealedSigningSecrets } from '../../../secrets/signing-secrets.ts'
import type { TenantSecrets } from '../../cmek/cmek-types.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { Endpoint } from '../webhooks-types.ts'
import * as store from './webhooks-store.ts'

/** Serves endpoints to the other parts of webhooks. */
export class Endpoints {
  readonly #deps: EndpointsDeps

  constructor(deps: EndpointsDeps) {
    this.#deps = deps
  }

  /** Returns all endpoints that are not removed, enabled or not. */
  async all(tx: TenantTx): Promise<Endpoint[]> {
    return (await store.allWebhooks(tx)).map(endpointOf)
  }

  /** Returns an endpoint. Throws DomainError `not-found` if it is removed or unknown. */
  async find(tx: TenantTx, webhookId: string): Promise<Endpoint> {
    const row = await store.findWebhook(tx, webhookId)
    if (!row) throw noSuchEndpoint()
    return endpointOf(row)
  }

  /**
   * Returns the signing secrets: the newest first, and the former one while it is valid. Undefined once their key is
   * destroyed, and for an endpoint that is removed or unknown.
   */
  async secretsOf(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<string[] | undefined> {
    const row = await store.webhookById(tx, webhookId)
    return row === undefined || row.removed_at !== null ? undefined : this.#deps.secrets.decrypt(tx, tenant, row)
  }

  /**
   * Disables an endpoint because its receiver is gone (410) or failed for too long, and writes the event
   * `webhook.disabled`. Does nothing if it is already disabled.
   */
  async disable(tx: TenantTx, tenant: Tenant, webhookId: string, reason: 'gone' | 'failing'): Promise<void> {
    if (!(await store.setDisabled(tx, webhookId, reason, formatTimestamp(Date.now())))) return
    await this.#report(tx, tenant, webhookId, 'webhook.disabled', ({ failures, failing_since }) => ({
      ...{ reason, failures },
      ...(failing_since !== null && { failing_since }),
    }))
    tx.afterCommit(() => this.#deps.changed(tx.tenantId))
  }

  /** Writes the event `webhook.overflowed`: from now on the oldest waiting deliveries are given up. */
  async overflowed(tx: TenantTx, tenant: Tenant, webhookId: string, openMax: number): Promise<void> {
    await this.#report(tx, tenant, webhookId, 'webhook.overflowed', () => ({ waiting_max: openMax }))
  }

  async #report(
    tx: TenantTx,
    tenant: Tenant,
    webhookId: string,
    kind: 'webhook.disabled' | 'webhook.overflowed',
    detailsOf: (row: store.WebhookWithProgress) => JsonObject,
  ): Promise<void> {
    const row = await store.webhookById(tx, webhookId)
    if (!row) return
    const details = { ...detailsOf(row), ...this.#deps.describeUrl(tx.tenantId, row.url) }
    const subject = `webhook:${webhookId}`
    await this.#deps.governance.append(tx, tenant, { kind, subject, details, actor: { service: 'webhooks' } })
  }
}

interface EndpointsDeps {
  governance: GovernanceLog
  secrets: WebhookSecrets
  describeUrl: (tenantId: string, url: string) => RedactedUrl
  /** Called after a commit that changed an endpoint. */
  changed: (tenantId: string) => void
}

export function noSuchEndpoint(): DomainError {
  return new DomainError('not-found', 'The tenant has no endpoint with this id. GET /api/v1/webhooks lists them.')
}

function endpointOf(row: Awaited<ReturnType<typeof store.allWebhooks>>[number]): Endpoint {
  const { webhook_id: webhookId, events, filters, thresholds, alerts, disabled_at } = row
  return { webhookId, events, filters, thresholds, alerts, enabled: disabled_at === null }
}

/** Encrypts and decrypts signing secrets. Both of an endpoint share one context, so the newest becomes the former one. */
export class WebhookSecrets {
  readonly #secrets: TenantSecrets

  constructor(secrets: TenantSecrets) {
    this.#secrets = secrets
  }

  encrypt(tx: TenantTx, tenant: Tenant, webhookId: string, secret: string): Promise<Buffer> {
    return this.#secrets.encrypt(tx, tenant, secret, contextOf(webhookId))
  }

  /**
   * Returns the secrets, the newest first, and the former one while it is valid. Undefined once the newest was
   * destroyed with its key.
   */
  async decrypt(
    tx: TenantTx,
    tenant: Tenant,
    row: SealedSigningSecrets & { webhook_id: string },
  ): Promise<string[] | undefined> {
    const context = contextOf(row.webhook_id)
    const { current, former } = await openSigningSecrets(row, (sealed) =>
      this.#secrets.decrypt(tx, tenant, sealed, context),
    )
    if (current === undefined) return undefined
    return former === undefined ? [current] : [current, former]
  }
}

function contextOf(webhookId: string): string {
  return `hub.webhooks/${webhookId}`
}
