import type { JsonValue } from '../../../../provenance/json.ts'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Erasure, ErasureJournal } from '../../erasure/erasure-types.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { HoldJournal, HoldReplay } from '../../legal-holds/hold-journal-types.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import type { PutAside } from './checkpoint-types.ts'

/** The origin of a tenant's data. */
export interface Restore {
  /** RFC 3339, UTC: the time of the backup; undefined if it was restored by other means. */
  backup_created_at?: string | undefined
  backup_hub_version?: string | undefined
}

/** The result, with the names of the command's output. */
export interface FollowedUp {
  tenant: string
  /** The number of records that were erased after the backup, and now are again. */
  erased_again: number
  /** The number of holds that were placed after the backup, and of those released after it. */
  holds_placed_again: number
  holds_released_again: number
  /** The number of content keys in the backup that were destroyed after it; absent if zero. */
  keys_destroyed_again?: number
  checkpoints_put_aside: PutAside[]
}

/**
 * Follows up on a restore of a tenant, before any other work: replays legal holds, erases again what was erased since,
 * puts stored checkpoints of the lost history aside, and writes a governance event.
 */
export function createRestoredTenants(
  deps: Pick<ModuleParts, 'database' | 'logs' | 'governance'> & {
    erasure: Erasure
    erasureList: ErasureJournal
    holds: HoldReplay
    holdList: HoldJournal
    checkpoints: CheckpointStore
    destroyKeysAgain: (tenant: Tenant, actor: Actor) => Promise<number>
  },
): { followUp(tenant: Tenant, restore: Restore, actor: Actor): Promise<FollowedUp> } {
  const { database, logs, erasure, erasureList, holds, holdList, checkpoints, governance } = deps
  const mark = `before-restore-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
  return {
    async followUp(tenant, restore, actor) {
      const { slug, logName } = tenant
      // First, because the later steps make the log grow.
      const head = await readTenant(database, slug, (tx) => logs.head(tx))
      const treeSize = head?.treeSize ?? 0
      const aside = await checkpoints.putAside(logName, treeSize, mark)
      // Before any decryption, which would otherwise wait for the destroyed keys.
      const keys = await deps.destroyKeysAgain(tenant, actor)
      const keysAgain = keys > 0 ? { keys_destroyed_again: keys } : {}
      // Before any erasure.
      const held = await holds.reapply(tenant, holdList, actor)
      const erasedAgain = await erasure.reapply(tenant, erasureList.read(slug))
      const details: Record<string, JsonValue> = {
        ...(restore.backup_created_at !== undefined && { backup_created_at: restore.backup_created_at }),
        ...(restore.backup_hub_version !== undefined && { backup_hub_version: restore.backup_hub_version }),
        tree_size: treeSize,
        // The known sizes of the lost history.
        tree_sizes_put_aside: aside.map((each) => each.tree_size),
        erased_again: erasedAgain,
        holds_placed_again: held.placed,
        holds_released_again: held.released,
        ...keysAgain,
      }
      const event = { kind: 'hub.restored' as const, subject: `tenant:${slug}`, details, actor }
      await database.withTenant(slug, (tx) => governance.append(tx, tenant, event))
      return {
        tenant: slug,
        erased_again: erasedAgain,
        holds_placed_again: held.placed,
        holds_released_again: held.released,
        ...keysAgain,
        checkpoints_put_aside: aside,
      }
    },
  }
}
