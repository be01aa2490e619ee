import { DomainError } from '../../../contract/domain-error.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { TenantLogs } from '../log/log-types.ts'
import type { ProvenanceKeyRotation } from './keys-types.ts'
import type { ProvenanceKeyRing } from './provenance-keys-service.ts'

interface RotatorDeps extends Pick<ModuleParts, 'database' | 'governance'> {
  keys: ProvenanceKeyRing
  logs: Pick<TenantLogs, 'integrate'>
}

/**
 * Rotates the keys of tenants. Publishes the new key before it can sign anything. A crash leaves at most a published
 * key that never signs, and that the next rotation marks as retired.
 */
export class ProvenanceKeyRotator {
  readonly #deps: RotatorDeps

  constructor(deps: RotatorDeps) {
    this.#deps = deps
  }

  /**
   * Gives the tenant a new key that the previous one introduces, and signs the checkpoint of its log with it.
   *
   * @throws DomainError `concurrent-modification` if somebody else rotates it at the same time
   */
  async rotate(tenant: Tenant, actor: Actor): Promise<ProvenanceKeyRotation> {
    const { database, keys, governance, logs } = this.#deps
    const successor = await keys.prepareSuccessor(tenant.slug)
    const { key, predecessorId } = successor
    await database.withRegistry((tx) => keys.publish(tx, key))
    try {
      await database.withTenant(tenant.slug, async (tx) => {
        await keys.succeed(tx, successor)
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `key:${key.keyId}`,
          details: { change: 'provenance_key', before: { key_id: predecessorId }, after: { key_id: key.keyId } },
          actor,
        })
      })
    } catch (error) {
      // After any other failure, the transaction may have been committed.
      if (!(error instanceof DomainError && error.slug === 'concurrent-modification')) throw error
      await database.withRegistry((tx) => keys.withdraw(tx, key.keyId))
      throw error
    }
    await database.withRegistry((tx) => keys.retirePublished(tx, successor))
    await logs.integrate(tenant)
    return { tenant: tenant.slug, key_id: key.keyId, retired_key_id: predecessorId }
  }
}
