import { validationFailed } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ContentDestruction } from '../erasure/erasure-types.ts'
import type { Actor, GovernanceLog } from '../governance/governance-types.ts'
import type { ContentKeys } from './content-keys.ts'
import { type ContentKeyRow, contentKeys, forgetContentKeys, takeContentKeysLock } from './content-keys-store.ts'
import type { DestroyedKeysList } from './destroyed-keys-list.ts'
import { asUnavailable, withoutCustomerKey } from './key-provider-error.ts'
import { live } from './key-state.ts'
import type { KeyProviders } from './providers/key-providers.ts'

export interface DestroyRequest {
  /** The slug of the tenant, to prevent destroying the keys of another one by mistake. */
  confirm: string
  reason: string
}

export interface Destroyed {
  tenant: string
  destroyed_at: string
  /** The destroyed content keys. */
  key_ids: string[]
  /** The governance event that records the destruction. */
  event_id: string
}

/** Deletes temporary plaintext copies of content in other modules, inside the transaction. */
export interface ContentsDestroyed {
  /** Takes the locks that {@link forget} needs before the locks of keys, if it needs any. */
  lock?(tx: TenantTx): Promise<void>
  forget(tx: TenantTx, at: string): Promise<void>
}

export interface KeyDestruction {
  /**
   * Deletes every content key of the tenant, and destroys its keys in the local keyring. Repeating it returns the same
   * result. Throws DomainError `validation-failed`, `hub-not-provisioned` for a tenant that never had a key,
   * `legal-hold` and `retention` while content must be kept.
   */
  destroy(caller: Caller, request: DestroyRequest): Promise<Destroyed>
  /**
   * Destroys again, after a restore of the database, the keys that were destroyed since the backup. Returns their
   * number; 0 when repeated.
   */
  reapply(tenant: Tenant, actor: Actor): Promise<number>
}

export function createKeyDestruction(deps: {
  database: Database
  governance: GovernanceLog
  providers: KeyProviders
  contentKeys: Pick<ContentKeys, 'changed'>
  content: ContentDestruction
  destroyed: readonly ContentsDestroyed[]
  destroyedKeys: DestroyedKeysList
}): KeyDestruction {
  const { database, governance, providers } = deps

  /** Asks every provider, since the tenant may have used another one before. */
  async function destroyOwnKeys(tenantId: string): Promise<void> {
    try {
      for (const provider of Object.values(providers)) await provider?.destroyKeysOf?.(tenantId)
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  return {
    async destroy(caller, { confirm, reason }) {
      const { tenant } = caller
      if (confirm !== tenant.slug) {
        throw validationFailed([{ pointer: '/confirm', detail: `must be the slug of this tenant, ${tenant.slug}` }])
      }
      return database.withTenant(tenant.slug, async (tx) => {
        await deps.content.lock(tx)
        for (const { lock } of deps.destroyed) await lock?.(tx)
        await takeContentKeysLock(tx)
        const rows = await contentKeys(tx)
        const ending = live(rows)
        if (ending.length === 0) {
          const before = lastDestroyed(tenant.slug, rows)
          if (before === undefined) throw withoutCustomerKey(tenant)
          await destroyOwnKeys(tenant.slug)
          return before
        }
        await deps.content.requireAllowed(tx)
        const now = formatTimestamp(Date.now())
        const key_ids = ending.map((row) => row.key_id)
        const { provider, key_ref } = ending.at(-1)!
        const { recordId: eventId } = await governance.append(tx, tenant, {
          kind: 'cmek.key_destroyed',
          subject: `tenant:${tenant.slug}`,
          details: { reason, provider, key_ref, key_ids, destroyed_at: now },
          actor: caller,
        })
        await forgetContentKeys(tx, key_ids, { now, eventId })
        for (const { forget } of deps.destroyed) await forget(tx, now)
        tx.afterCommit(() => deps.contentKeys.changed(tenant.slug))
        const kept = { tenant: tenant.slug, event_id: eventId, destroyed_at: now, reason, key_ids }
        await deps.destroyedKeys.keep(kept)
        // Last, and before the commit: a key created for this tenant afterwards must not be destroyed. If the commit
        // fails, content is unreadable nevertheless, and repeating the call writes the event.
        await destroyOwnKeys(tenant.slug)
        return { tenant: tenant.slug, destroyed_at: now, key_ids, event_id: eventId }
      })
    },

    async reapply(tenant, actor) {
      const { slug } = tenant
      const kept = await Array.fromAsync(deps.destroyedKeys.read(slug))
      const keptOf = (keyId: string) => kept.find((each) => each.key_ids.includes(keyId))
      if (kept.length === 0) return 0
      return database.withTenant(slug, async (tx) => {
        for (const { lock } of deps.destroyed) await lock?.(tx)
        await takeContentKeysLock(tx)
        const back = live(await contentKeys(tx)).filter((row) => keptOf(row.key_id))
        const last = back.at(-1)
        if (last === undefined) return 0
        const now = formatTimestamp(Date.now())
        const key_ids = back.map((row) => row.key_id)
        const { provider, key_ref, key_id } = last
        const { event_id, destroyed_at, reason } = keptOf(key_id)!
        const { recordId: eventId } = await governance.append(tx, tenant, {
          kind: 'cmek.key_destroyed',
          subject: `tenant:${slug}`,
          details: {
            ...{ reason, provider, key_ref, key_ids, destroyed_at: now },
            // Refers to the history that the restored database lacks.
            before_restore: { event_id, destroyed_at },
          },
          actor,
        })
        await forgetContentKeys(tx, key_ids, { now, eventId })
        for (const { forget } of deps.destroyed) await forget(tx, now)
        tx.afterCommit(() => deps.contentKeys.changed(slug))
        return key_ids.length
      })
    },
  }
}

function lastDestroyed(tenant: string, rows: readonly ContentKeyRow[]): Destroyed | undefined {
  const last = rows.at(-1)
  if (last?.event_id == null || last.destroyed_at === null) return undefined
  const key_ids = rows.filter((row) => row.event_id === last.event_id).map((row) => row.key_id)
  return { tenant, destroyed_at: last.destroyed_at, key_ids, event_id: last.event_id }
}
