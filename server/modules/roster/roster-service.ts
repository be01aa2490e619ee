import type { Static } from 'typebox'
import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { archetypesMax } from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Actor } from '../governance/governance-types.ts'
import { lockDirectory } from './directory/directory-users-store.ts'
import type { GroupArchetypes } from './directory/group-archetypes.ts'
import { holdersOf } from './directory/user-archetypes-store.ts'
import type { ArchetypeList } from './roster-schemas.ts'
import { allArchetypes, archetypesAfter, deleteArchetypes, lockBundle, putArchetypes } from './roster-store.ts'
import type { RosterUpkeep } from './sync/sync-types.ts'

/** Maximum number of ids that a governance event names; its counts are always complete. */
const idsInEventMax = 1_000
const idPattern = new RegExp(patterns.identifier)

const withdrawnAtOnce = 200

type Archetype = Static<typeof ArchetypeList>['items'][number]

export type Archetypes = ReturnType<typeof createArchetypes>

/** Manages the archetypes of a tenant. */
export function createArchetypes(
  deps: Pick<ModuleParts, 'database' | 'governance' | 'cursorKey' | 'events'> & {
    assignment: GroupArchetypes
    settle: RosterUpkeep['settle']
  },
) {
  const { database, governance, events, cursorKey, assignment } = deps

  /**
   * Updates people after a change of the bundle: removes deleted archetypes, and assigns new ones that their groups map
   * to.
   */
  async function follow(tx: TenantTx, tenant: Tenant, change: BundleChange, actor: Actor): Promise<void> {
    if (change.removed.length > 0) {
      const holders = await holdersOf(tx, change.removed)
      // Works in batches: creating the events of thousands at once would block everybody else.
      for (let at = 0; at < holders.length; at += withdrawnAtOnce) {
        const some = holders.slice(at, at + withdrawnAtOnce)
        await governance.appendAll(tx, tenant, await assignment.withdraw(tx, some, change.removed, actor))
      }
      await events.publishInTransaction(tx, 'archetypesRemoved', { tenant, archetypeIds: change.removed, actor })
    }
    if (change.added.length > 0) await deps.settle(tx, tenant, actor)
  }

  return {
    /**
     * Replaces the bundle and returns the stored one. Repeating it changes nothing and writes no event. Throws
     * `validation-failed` with a pointer to each id that is malformed or occurs twice.
     */
    async replace(tenant: Tenant, archetypes: readonly Archetype[], actor: Actor): Promise<Archetype[]> {
      checkBundle(archetypes)
      await database.withTenant(tenant.slug, async (tx) => {
        await lockBundle(tx)
        await lockDirectory(tx)
        const change = await replaceBundle(tx, archetypes)
        if (!change) return
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `tenant:${tenant.slug}`,
          details: { change: 'archetypes', ...detailsOf(change) },
          actor,
        })
        await follow(tx, tenant, change, actor)
        tx.afterCommit(() => events.publish('catalogueChanged', { tenantId: tx.tenantId }))
      })
      return [...archetypes].sort((a, b) => (a.archetype_id < b.archetype_id ? -1 : 1))
    },
    async list({ slug }: Tenant, asked: PageRequest): Promise<Static<typeof ArchetypeList>> {
      const page = openPage<string>(cursorKey, { tenant: slug, operation: 'listArchetypes', query: {} }, asked)
      const read = (tx: TenantTx) => archetypesAfter(tx, page.after ?? '', page.count)
      const rows = await readTenant(database, slug, read)
      const { shown, next_cursor } = page.of(rows, (last) => last.archetype_id)
      const items = shown.map(({ archetype_id, name }) => ({ archetype_id, ...(name !== null && { name }) }))
      return { items, next_cursor }
    },
  }
}

interface BundleChange {
  before: number
  after: number
  added: string[]
  removed: string[]
  renamed: string[]
}

/** Replaces the bundle. Returns the difference, or undefined if there is none. */
async function replaceBundle(tx: TenantTx, archetypes: readonly Archetype[]): Promise<BundleChange | undefined> {
  const before = new Map((await allArchetypes(tx)).map((row) => [row.archetype_id, row.name]))
  const after = new Map(archetypes.map((archetype) => [archetype.archetype_id, archetype.name ?? null]))
  const added = [...after.keys()].filter((id) => !before.has(id))
  const removed = [...before.keys()].filter((id) => !after.has(id))
  const renamed = [...after.keys()].filter((id) => before.has(id) && before.get(id) !== after.get(id))
  if (added.length + removed.length + renamed.length === 0) return undefined
  if (removed.length > 0) await deleteArchetypes(tx, removed)
  const put = [...added, ...renamed].map((id) => ({ archetype_id: id, name: after.get(id) ?? null }))
  if (put.length > 0) await putArchetypes(tx, put)
  return { before: before.size, after: after.size, added, removed, renamed }
}

function detailsOf({ before, after, added, removed, renamed }: BundleChange) {
  return {
    before: { count: before },
    after: { count: after },
    added: added.slice(0, idsInEventMax),
    removed: removed.slice(0, idsInEventMax),
    renamed: renamed.slice(0, idsInEventMax),
    added_count: added.length,
    removed_count: removed.length,
  }
}

function checkBundle(archetypes: readonly Archetype[]): void {
  const errors: PointedError[] = []
  const firstAt = new Map<string, number>()
  for (const [index, { archetype_id: id }] of archetypes.entries()) {
    const pointer = `/archetypes/${index}/archetype_id`
    const first = firstAt.get(id)
    if (!idPattern.test(id))
      errors.push({
        pointer,
        detail: `is ${JSON.stringify(id)}; an id is ${patternWords[patterns.identifier]}`,
      })
    else if (first !== undefined) errors.push({ pointer, detail: `repeats /archetypes/${first}/archetype_id` })
    else firstAt.set(id, index)
  }
  if (archetypes.length > archetypesMax) {
    errors.push({ pointer: '/archetypes', detail: `must have at most ${archetypesMax} entries` })
  }
  if (errors.length > 0) throw validationFailed(errors)
}
