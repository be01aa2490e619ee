import type { Static } from 'typebox'
import { validationFailed } from '../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { ContentDestruction } from '../erasure/erasure-types.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { DestroyBody } from './cmek-schemas.ts'
import type { Destroyed } from './cmek-types.ts'
import type { ContentKeys } from './content-keys.ts'
import { type ContentKeyRow, contentKeys, deleteContentKeys, takeContentKeysLock } from './content-keys-store.ts'
import type { DestroyedKeysList } from './destroyed-keys-list.ts'
import { asUnavailable, withoutCustomerKey } from './key-provider-error.ts'
import { live } from './key-state.ts'
import type { KeyProviders } from './providers/key-providers.ts'

/** Deletes temporary plaintext copies of content in other modules, inside the transaction. */
interface ContentsDestroyed {
  /** Takes the locks that {@link forget} needs before the locks of keys, if it needs any. */
  lock?(tx: TenantTx): Promise<void>
  forget(tx: TenantTx, at: string): Promise<void>
}

export interface KeyDestructionDeps extends Pick<ModuleParts, 'database' | 'governance'> {
  providers: KeyProviders
  contentKeys: Pick<ContentKeys, 'changed'>
  content: ContentDestruction
  /** Parts of other modules, in the order of their locks. */
  destroyed: readonly ContentsDestroyed[]
  destroyedKeys: DestroyedKeysList
}

/** Destroys content keys, and thereby everything that is encrypted with them. */
export class KeyDestruction {
  readonly #deps: KeyDestructionDeps

  constructor(deps: KeyDestructionDeps) {
    this.#deps = deps
  }

  /**
   * Deletes every content key of the tenant, and destroys its keys in the local keyring. Repeating it returns the same
   * result. Throws DomainError `validation-failed`, `hub-not-provisioned` for a tenant that never had a key,
   * `legal-hold` and `retention` while content must be kept.
   */
  async destroy(caller: Caller, { confirm, reason }: Static<typeof DestroyBody>): Promise<Destroyed> {
    const { tenant } = caller
    const { database, content, destroyedKeys } = this.#deps
    if (confirm !== tenant.slug) {
      throw validationFailed([{ pointer: '/confirm', detail: `must be the slug of this tenant, ${tenant.slug}` }])
    }
    return database.withTenant(tenant.slug, async (tx) => {
      await content.lock(tx)
      const rows = await this.#lockKeys(tx)
      const ending = live(rows)
      if (ending.length === 0) {
        const before = lastDestroyed(tenant.slug, rows)
        if (before === undefined) throw withoutCustomerKey(tenant)
        await this.#destroyLocalKeys(tenant.slug)
        return before
      }
      await content.requireAllowed(tx)
      const destroyed = await this.#forget(tx, tenant, ending, { reason }, caller)
      await destroyedKeys.keep({ ...destroyed, reason })
      // Last, and before the commit: a key created for this tenant afterwards must not be destroyed. If the commit
      // fails, content is unreadable nevertheless, and repeating the call writes the event.
      await this.#destroyLocalKeys(tenant.slug)
      return destroyed
    })
  }

  /**
   * Destroys again, after a restore of the database, the keys that were destroyed since the backup. Returns their
   * number; 0 when repeated.
   */
  async reapply(tenant: Tenant, actor: Actor): Promise<number> {
    const kept = await Array.fromAsync(this.#deps.destroyedKeys.read(tenant.slug))
    const keptOf = ({ key_id }: ContentKeyRow) => kept.find((each) => each.key_ids.includes(key_id))
    if (kept.length === 0) return 0
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const back = live(await this.#lockKeys(tx)).filter(keptOf)
      if (back.length === 0) return 0
      const { event_id, destroyed_at, reason } = keptOf(back.at(-1)!)!
      // Refers to the history that the restored database lacks.
      const details = { reason, before_restore: { event_id, destroyed_at } }
      await this.#forget(tx, tenant, back, details, actor)
      return back.length
    })
  }

  async #lockKeys(tx: TenantTx): Promise<ContentKeyRow[]> {
    for (const part of this.#deps.destroyed) await part.lock?.(tx)
    await takeContentKeysLock(tx)
    return contentKeys(tx)
  }

  /** Deletes these keys and plaintext copies of content, with the event about it. */
  async #forget(
    tx: TenantTx,
    tenant: Tenant,
    rows: readonly ContentKeyRow[],
    details: Record<string, JsonValue>,
    actor: Actor,
  ): Promise<Destroyed> {
    const now = formatTimestamp(Date.now())
    const key_ids = rows.map((row) => row.key_id)
    const { provider, key_ref } = rows.at(-1)!
    const { recordId: eventId } = await this.#deps.governance.append(tx, tenant, {
      kind: 'cmek.key_destroyed',
      subject: `tenant:${tenant.slug}`,
      details: { ...details, provider, key_ref, key_ids, destroyed_at: now },
      actor,
    })
    await deleteContentKeys(tx, key_ids, { now, eventId })
    for (const part of this.#deps.destroyed) await part.forget(tx, now)
    tx.afterCommit(() => this.#deps.contentKeys.changed(tenant.slug))
    return { tenant: tenant.slug, destroyed_at: now, key_ids, event_id: eventId }
  }

  /** Asks every provider, since the tenant may have used another one before. */
  async #destroyLocalKeys(tenantId: string): Promise<void> {
    try {
      for (const provider of Object.values(this.#deps.providers)) await provider?.destroyKeysOf?.(tenantId)
    } catch (error) {
      throw asUnavailable(error)
    }
  }
}

function lastDestroyed(tenant: string, rows: readonly ContentKeyRow[]): Destroyed | undefined {
  const last = rows.at(-1)
  if (last?.event_id == null || last.destroyed_at === null) return undefined
  const key_ids = rows.filter((row) => row.event_id === last.event_id).map((row) => row.key_id)
  return { tenant, destroyed_at: last.destroyed_at, key_ids, event_id: last.event_id }
}
