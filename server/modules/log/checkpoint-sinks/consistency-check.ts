import { equalBytes } from '../../../../provenance/bytes.ts'
import { joinRoots, parseCheckpoint, rootOfRange } from '../../../../provenance/index.ts'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import { isLogCorruptionError } from '../tenant-logs.ts'
import type { StoredCheckpoint } from './checkpoint-types.ts'

/**
 * Returns whether a log's checkpoint is consistent with an earlier one (RFC 6962 §2.1.2), by the stored tree: both
 * roots must follow from the same few subtrees. Trusts nothing else of the tree. Also returns false if the tree is
 * damaged or lacks such a size.
 *
 * @throws DomainError `hub-unavailable` if this cannot be determined now
 */
export function createConsistencyCheck(deps: Pick<ModuleParts, 'database' | 'logs'>) {
  const { sha256 } = nodeCrypto
  return async (tenant: Pick<Tenant, 'slug'>, earlier: StoredCheckpoint, later: StoredCheckpoint): Promise<boolean> => {
    const [from, to] = [parseCheckpoint(earlier.checkpoint), parseCheckpoint(later.checkpoint)]
    try {
      const { left, right } = await readTenant(deps.database, tenant.slug, (tx) =>
        deps.logs.rangeProof(tx, from.treeSize, from.treeSize, to.treeSize),
      )
      const root = rootOfRange(from.treeSize, [], left, right, to.treeSize, sha256)
      return equalBytes(joinRoots(left, sha256), from.root) && equalBytes(root, to.root)
    } catch (error) {
      if (isLogCorruptionError(error)) return false
      throw error
    }
  }
}
