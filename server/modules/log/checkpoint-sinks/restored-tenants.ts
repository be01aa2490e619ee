import type { JsonValue } from '../../../../provenance/json.ts'
import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor, GovernanceLog } from '../../governance/governance-types.ts'
import type { Erasure, ErasureJournal } from '../../hub/erasure/erasure-types.ts'
import type { HoldJournal, HoldReplay } from '../../hub/holds/hold-journal-types.ts'
import type { TenantLogs } from '../log-types.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import type { PutAside } from './checkpoint-types.ts'

/** Where a tenant's data came from. */
export interface Restore {
  /** RFC 3339, UTC: when the backup was made; undefined where it was restored by other means. */
  backup_created_at?: string | undefined
  backup_hub_version?: string | undefined
}

/** In the names of the command's answer. */
export interface FollowedUp {
  tenant: string
  /** Records that were erased after the backup was made, and now are again. */
  erased_again: number
  /** That were placed after the backup was made, and those of before that were released since. */
  holds_placed_again: number
  holds_released_again: number
  /** Content keys that the backup has and that were destroyed after it was made; absent where there are none. */
  keys_destroyed_again?: number
  checkpoints_put_aside: PutAside[]
}

/**
 * What a tenant needs once its data is that of an earlier time, before anything else happens: legal holds are as they were
 * in the end, what was erased since is erased again, kept checkpoints of the history that is no more are put aside, and a
 * governance event tells of it.
 */
export function createRestoredTenants(deps: {
  database: Database
  logs: TenantLogs
  erasure: Erasure
  erasureList: ErasureJournal
  holds: HoldReplay
  holdList: HoldJournal
  checkpoints: CheckpointStore
  governance: GovernanceLog
  /** Answers how many content keys it has destroyed again. */
  destroyKeysAgain: (tenant: Tenant, actor: Actor) => Promise<number>
}): { followUp(tenant: Tenant, restore: Restore, actor: Actor): Promise<FollowedUp> } {
  const { database, logs, erasure, erasureList, holds, holdList, checkpoints, governance } = deps
  const mark = `before-restore-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
  return {
    async followUp(tenant, restore, actor) {
      const { slug, logName } = tenant
      // First of all: what follows makes the log grow.
      const head = await database.withTenant(slug, (tx) => logs.head(tx), { readOnly: true })
      const treeSize = head?.treeSize ?? 0
      const aside = await checkpoints.putAside(logName, treeSize, mark)
      // Before anything is opened: without it what is gone with its key would be waited for.
      const keys = await deps.destroyKeysAgain(tenant, actor)
      const keysAgain = keys > 0 ? { keys_destroyed_again: keys } : {}
      // Before anything is erased.
      const held = await holds.reapply(tenant, holdList, actor)
      const erasedAgain = await erasure.reapply(tenant, erasureList.read(slug))
      const details: Record<string, JsonValue> = {
        ...(restore.backup_created_at !== undefined && { backup_created_at: restore.backup_created_at }),
        ...(restore.backup_hub_version !== undefined && { backup_hub_version: restore.backup_hub_version }),
        tree_size: treeSize,
        // How far the history was that is no more, as far as it is known.
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
