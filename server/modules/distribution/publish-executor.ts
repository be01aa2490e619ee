import { backoff } from '../../../contract/backoff.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { DatabaseLog, TenantTx } from '../../db/database.ts'
import type { LeaseChanges, LeasedTarget, TargetLeases } from '../../delivery/target-leases.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { ConnectorCredentials, Credentials } from '../connectors/connectors-types.ts'
import type { SkillGrants } from '../entitlement/entitlement-types.ts'
import * as store from './deliveries-store.ts'
import type { AdapterOf, DeliveryError } from './distribution-types.ts'
import { deliveryErrorOf, PublishFailure } from './publish-failure.ts'
import { reached } from './republish-service.ts'
import { signedManifest, skillSetOf } from './skill-manifest.ts'

/** Seconds from the start of one publish to the next; with its own duration it stays below 30 seconds. */
const periodSeconds = 25
/** Seconds between a failure and the next publish. */
const retrySeconds = { first: 2, max: periodSeconds }

/** All data of one publish, read in the transaction that leased the connector. */
export interface LeasedPublish {
  claim: store.Claim
  /** The delivery, or the reason why it is impossible. */
  prepared: { credentials: Credentials; manifest: JsonObject; text: string; etag: string } | { error: unknown }
}

/** Leases due connectors and delivers to them. */
export class PublishExecutor {
  readonly #deps: PublishExecutorDeps

  constructor(deps: PublishExecutorDeps) {
    this.#deps = deps
  }

  /**
   * Leases the connectors that `choose` returns from those that are due, and extends and releases leases.
   *
   * @param choose gets the longest overdue first
   */
  lease(
    tenant: Tenant,
    leases: TargetLeases<LeasedTarget>,
    nowMs: number,
    choose: (ready: readonly store.Due[]) => readonly string[],
  ): Promise<{ due: store.Due[]; changes: LeaseChanges; publishes: LeasedPublish[] }> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const due = await store.dueTimes(tx)
      const ready = due.filter(({ connector_id, wait_ms }) => wait_ms <= 0 && !leases.held.has(connector_id))
      const chosen = new Set(choose(ready))
      const states = due.map(({ connector_id: id, claimed_by: leasedBy, claim_ms: leaseMs }) => {
        return { id, isActive: chosen.has(id), leasedBy, leaseMs }
      })
      const changes = await leases.update(tx, states, nowMs)
      const leased = [...changes.leased].filter((id) => !leases.held.has(id))
      const claims = leased.length === 0 ? [] : await store.claimsOf(tx, leased, periodSeconds)
      return { due, changes, publishes: claims.length === 0 ? [] : await this.#prepare(tx, tenant, claims) }
    })
  }

  /**
   * Publishes, stores the result and releases the lease. Returns false if it was aborted, so that the lease is still to
   * be released. Throws if the result could not be stored.
   */
  async publish(tenant: Tenant, leased: LeasedPublish, stop: AbortSignal): Promise<boolean> {
    const { claim } = leased
    try {
      const state = await this.#send(tenant, leased, stop)
      const { etag } = leased.prepared as { etag: string }
      await this.#keep(tenant, claim, { etag, state })
    } catch (error) {
      if (stop.aborted) return false
      const described = deliveryErrorOf(error)
      if (described.code === 'unexpected' && !(error instanceof PublishFailure)) {
        const details = { err: error, tenant: tenant.slug, connector: claim.connector_id }
        this.#deps.log.error(details, 'publishing skills failed')
      }
      const retryAfterSeconds = (error instanceof PublishFailure && error.retryAfterSeconds) || 0
      await this.#keep(tenant, claim, { error: described, retryAfterSeconds })
    }
    return true
  }

  release(tenant: Tenant, leases: TargetLeases<LeasedTarget>, connectorIds: readonly string[]): Promise<void> {
    return this.#deps.database.withTenant(tenant.slug, (tx) => leases.release(tx, connectorIds))
  }

  async #prepare(tx: TenantTx, tenant: Tenant, claims: readonly store.Claim[]): Promise<LeasedPublish[]> {
    const { grants, credentials, keys } = this.#deps
    const set = skillSetOf(await grants.published(tx))
    const signer = await keys.signerOf(tenant.slug, tx)
    const prepared: LeasedPublish[] = []
    for (const claim of claims) {
      try {
        const connector = { tenant: tenant.slug, connectorId: claim.connector_id, platform: claim.platform }
        const opened = await credentials.decrypt(tx, tenant, claim)
        const signed = signedManifest(set, connector, signer)
        prepared.push({ claim, prepared: { credentials: opened, ...signed, etag: set.etag } })
      } catch (error) {
        prepared.push({ claim, prepared: { error } })
      }
    }
    return prepared
  }

  async #send(tenant: Tenant, { claim, prepared }: LeasedPublish, stop: AbortSignal): Promise<JsonValue> {
    if ('error' in prepared) throw prepared.error
    const { database, adapterOf } = this.#deps
    const adapter = adapterOf({ ...claim, ...prepared })
    return adapter.publish({
      ...prepared,
      tenant: tenant.slug,
      connectorId: claim.connector_id,
      ...(claim.publish_url !== null && { publishUrl: claim.publish_url }),
      state: claim.state,
      signal: AbortSignal.any([stop, AbortSignal.timeout(adapter.timeoutMs)]),
      remember: (state) => database.withTenant(tenant.slug, (tx) => store.rememberState(tx, claim, state)),
    })
  }

  #keep(
    tenant: Tenant,
    claim: store.Claim,
    outcome: { etag: string; state: JsonValue } | { error: DeliveryError; retryAfterSeconds: number },
  ): Promise<void> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const dueAt = await store.lockClaim(tx, claim)
      if (dueAt === undefined) return
      const at = formatTimestamp(Date.now())
      // If an earlier publish was requested meanwhile, the sent content may be outdated: only the next one counts.
      const isCurrent = dueAt === claim.due_at
      const nextAt = isCurrent ? claim.next_due_at : dueAt
      if ('error' in outcome) {
        const pauseSeconds = backoff(claim.failures, retrySeconds)
        const notBeforeSeconds = outcome.retryAfterSeconds
        const error = { ...outcome.error, at }
        await store.endFailed(tx, claim, { error, nextAt, pauseSeconds, notBeforeSeconds })
      } else {
        await store.endPublished(tx, claim, { ...outcome, nextAt })
      }
      if (!isCurrent) return
      const result = 'error' in outcome ? ({ status: 'failed', error: outcome.error } as const) : undefined
      await reached(tx, { connector_id: claim.connector_id, at, ...(result ?? { status: 'published' }) })
    })
  }
}

export interface PublishExecutorDeps extends Pick<ModuleParts, 'database' | 'keys'> {
  grants: Pick<SkillGrants, 'published'>
  credentials: ConnectorCredentials
  adapterOf: AdapterOf
  log: Pick<DatabaseLog, 'error'>
}
