import { DomainError } from '../../../contract/domain-error.ts'
import type { Database } from '../../db/database.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { TenantLogs } from '../log/log-types.ts'
import type { ProvenanceKeyMaker, ProvenanceKeyRotator, ProvenanceKeySuccession } from './keys-types.ts'

/**
 * Rotates the keys of tenants. Publishes the new key before it can sign anything. A crash leaves at most a published
 * key that never signs, and that the next rotation marks as retired.
 */
export function createProvenanceKeyRotation(deps: {
  database: Database
  keys: ProvenanceKeyMaker & ProvenanceKeySuccession
  governance: GovernanceLog
  logs: Pick<TenantLogs, 'integrate'>
}): ProvenanceKeyRotator {
  const { database, keys, governance, logs } = deps
  return {
    async rotate(tenant, actor) {
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
    },
  }
}
