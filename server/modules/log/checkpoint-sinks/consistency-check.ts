import { DomainError } from '../../../../contract/domain-error.ts'
import { equalBytes } from '../../../../provenance/bytes.ts'
import { joinRoots, ProvenanceError, parseCheckpoint, rootOfRange } from '../../../../provenance/index.ts'
import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { logCrypto } from '../log-crypto.ts'
import type { TenantLogs } from '../log-types.ts'
import type { StoredCheckpoint } from './checkpoint-types.ts'

/**
 * Whether a state of a log begins with an earlier one (RFC 6962 §2.1.2), as the stored tree proves it: from the same few
 * subtrees follow both roots. Nothing else is believed of the tree. False, too, where it is damaged or has no such size.
 *
 * @throws DomainError `hub-unavailable` where it cannot be told now
 */
export function createConsistencyCheck(deps: { database: Database; logs: () => TenantLogs }) {
  const { sha256 } = logCrypto
  return async (tenant: Pick<Tenant, 'slug'>, earlier: StoredCheckpoint, later: StoredCheckpoint): Promise<boolean> => {
    const [from, to] = [parseCheckpoint(earlier.checkpoint), parseCheckpoint(later.checkpoint)]
    try {
      const { left, right } = await deps.database.withTenant(
        tenant.slug,
        (tx) => deps.logs().rangeProof(tx, from.treeSize, from.treeSize, to.treeSize),
        { readOnly: true },
      )
      const root = rootOfRange(from.treeSize, [], left, right, to.treeSize, sha256)
      return equalBytes(joinRoots(left, sha256), from.root) && equalBytes(root, to.root)
    } catch (error) {
      const isDamaged = error instanceof ProvenanceError || (error instanceof DomainError && error.slug === 'internal')
      if (isDamaged) return false
      throw error
    }
  }
}
