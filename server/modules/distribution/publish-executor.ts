import { randomUUID } from 'node:crypto'
import { backoff } from '../../../contract/backoff.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ConnectorCredentials, Credentials } from '../connectors/connectors-types.ts'
import type { SkillGrants } from '../entitlement/grants-types.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import * as store from './deliveries-store.ts'
import type { DeliveryError } from './distribution-types.ts'
import type { Delivery } from './platform-adapter-types.ts'
import type { AdapterOf } from './platform-adapters.ts'
import { deliveryErrorOf, PublishFailure } from './publish-failure.ts'
import { reached } from './republish-progress.ts'
import { signedManifest, skillSetOf } from './skill-manifest.ts'

/** Seconds from the start of one publish to the next; with its own duration it stays below 30 seconds. */
const periodSeconds = 25
/**
 * Duration of a claim in seconds, renewed three times as often. The claims of a crashed process end after this time.
 */
const claimSeconds = 15
/** Seconds between a failure and the next publish. */
const retrySeconds = { first: 2, max: periodSeconds }

/** All data of one publish, read in one transaction. */
export interface ClaimedPublish {
  claim: store.Claim
  /** The delivery, or the reason why it is impossible. */
  prepared: { credentials: Credentials; manifest: JsonObject; text: string; etag: string } | { error: unknown }
}

/** Claims due connectors and delivers to them. */
export interface PublishExecutor {
  /** Returns due times, longest overdue first. */
  due(tenant: Tenant): Promise<store.Due[]>
  /** Claims those of the connectors that no other process has claimed. */
  claim(tenant: Tenant, connectorIds: readonly string[]): Promise<ClaimedPublish[]>
  /** Publishes and stores the result. Throws if the result could not be stored. */
  deliver(tenant: Tenant, claimed: ClaimedPublish, stop: AbortSignal): Promise<void>
}

export interface PublishExecutorDeps {
  database: Database
  grants: Pick<SkillGrants, 'published'>
  credentials: ConnectorCredentials
  keys: ProvenanceKeys
  adapterOf: AdapterOf
  log: DatabaseLog
}

export function createPublishExecutor(deps: PublishExecutorDeps): PublishExecutor {
  const { database, grants, credentials, keys, adapterOf, log } = deps
  /** Unique for each process. */
  const processId = randomUUID()

  async function prepare(tx: TenantTx, tenant: Tenant, claims: readonly store.Claim[]): Promise<ClaimedPublish[]> {
    const set = skillSetOf(await grants.published(tx))
    const signer = await keys.signerOf(tenant.slug, tx)
    const prepared: ClaimedPublish[] = []
    for (const claim of claims) {
      try {
        const connector = { tenant: tenant.slug, connectorId: claim.connector_id, platform: claim.platform }
        const opened = await credentials.open(tx, tenant, claim)
        prepared.push({
          claim,
          prepared: { credentials: opened, ...signedManifest(set, connector, signer), etag: set.etag },
        })
      } catch (error) {
        prepared.push({ claim, prepared: { error } })
      }
    }
    return prepared
  }

  async function publish(tenant: Tenant, { claim, prepared }: ClaimedPublish, stop: AbortSignal): Promise<JsonValue> {
    if ('error' in prepared) throw prepared.error
    const adapter = adapterOf({ ...claim, ...prepared })
    const signal = AbortSignal.any([stop, AbortSignal.timeout(adapter.timeoutMs)])
    const delivery: Delivery = {
      ...prepared,
      tenant: tenant.slug,
      connectorId: claim.connector_id,
      ...(claim.publish_url !== null && { publishUrl: claim.publish_url }),
      state: claim.state,
      signal,
      remember: (state) => database.withTenant(tenant.slug, (tx) => store.rememberState(tx, claim, state)),
    }
    return adapter.publish(delivery)
  }

  /** Renews the claim regularly. Calls `lost` if this process no longer holds it. */
  function keepClaim(tenant: Tenant, claim: store.Claim, lost: () => void): { stop(): void } {
    const timer = setInterval(
      () => {
        database
          .withTenant(tenant.slug, (tx) => store.renewClaim(tx, claim, claimSeconds))
          .then((isOurs) => isOurs || lost())
          // The next renewal may succeed.
          .catch(() => {})
      },
      (claimSeconds * 1000) / 3,
    ).unref()
    return { stop: () => clearInterval(timer) }
  }

  async function keep(
    tenant: Tenant,
    claim: store.Claim,
    outcome: { etag: string; state: JsonValue } | { error: DeliveryError; retryAfterSeconds: number },
  ): Promise<void> {
    await database.withTenant(tenant.slug, async (tx) => {
      const dueAt = await store.lockClaim(tx, claim)
      if (dueAt === undefined) return
      const at = formatTimestamp(Date.now())
      if ('error' in outcome) {
        const pauseSeconds = backoff(claim.failures, retrySeconds)
        const notBeforeSeconds = outcome.retryAfterSeconds
        await store.endFailed(tx, claim, { error: { ...outcome.error, at }, pauseSeconds, notBeforeSeconds })
      } else {
        await store.endPublished(tx, claim, outcome.etag, outcome.state)
      }
      // If an earlier publish was requested meanwhile, the sent content may be outdated: only the next one counts.
      if (dueAt !== claim.due_at) return
      const result = 'error' in outcome ? ({ status: 'failed', error: outcome.error } as const) : undefined
      await reached(tx, { connector_id: claim.connector_id, at, ...(result ?? { status: 'published' }) })
    })
  }

  return {
    due: (tenant) => database.withTenant(tenant.slug, store.dueTimes, { readOnly: true }),

    claim: (tenant, connectorIds) =>
      database.withTenant(tenant.slug, async (tx) => {
        const by = `${processId}/${randomUUID()}`
        const claims = await store.claimDue(tx, connectorIds, { by, seconds: claimSeconds, periodSeconds })
        return claims.length === 0 ? [] : prepare(tx, tenant, claims)
      }),

    async deliver(tenant, claimed, stop) {
      const { claim, prepared } = claimed
      const lost = new AbortController()
      const kept = keepClaim(tenant, claim, () => lost.abort())
      const signal = AbortSignal.any([stop, lost.signal])
      try {
        const state = await publish(tenant, claimed, signal)
        const { etag } = prepared as { etag: string }
        await keep(tenant, claim, { etag, state })
      } catch (error) {
        if (lost.signal.aborted) return
        if (stop.aborted) {
          await database.withTenant(tenant.slug, (tx) => store.giveBack(tx, claim))
          return
        }
        const described = deliveryErrorOf(error)
        if (described.code === 'unexpected' && !(error instanceof PublishFailure)) {
          log.error({ err: error, tenant: tenant.slug, connector: claim.connector_id }, 'publishing skills failed')
        }
        const retryAfterSeconds = (error instanceof PublishFailure && error.retryAfterSeconds) || 0
        await keep(tenant, claim, { error: described, retryAfterSeconds })
      } finally {
        kept.stop()
      }
    },
  }
}
