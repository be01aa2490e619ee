import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { patterns } from '../../../../contract/literals.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { TransactionEvents } from '../../../event-bus.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openPage } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { ArchetypeBundle } from '../../roster/roster-types.ts'
import { lockSkills, statesOf } from '../entitlement-store.ts'
import { grantDetails, sortedPairs } from './grant-events.ts'
import type { ArchetypeGrantsSchema, GrantList, GrantsQuery } from './grants-schemas.ts'
import {
  deleteGrants,
  deleteGrantsOfArchetypes,
  type GrantRow,
  grantsAfter,
  grantsOfArchetype,
  insertGrants,
} from './grants-store.ts'

const idPattern = new RegExp(patterns.identifier)

type ArchetypeGrants = Static<typeof ArchetypeGrantsSchema>
type GrantPage = Static<typeof GrantList>

export type Grants = ReturnType<typeof createGrants>

/** Manages which archetypes may use which skills. */
export function createGrants(
  deps: Pick<ModuleParts, 'database' | 'governance' | 'cursorKey' | 'events'> & { bundle: ArchetypeBundle },
) {
  const { database, governance, bundle, cursorKey, events } = deps

  async function requireArchetype(tx: TenantTx, archetypeId: string): Promise<void> {
    if ((await bundle.allIds(tx)).has(archetypeId)) return
    const id = idPattern.test(archetypeId) ? archetypeId : 'of that id'
    throw new DomainError(
      'not-found',
      `The archetype ${id} is not in the bundle. GET /api/v1/roster/archetypes lists them.`,
    )
  }

  return {
    async list({ slug }: Tenant, { limit, cursor, ...filter }: Static<typeof GrantsQuery>): Promise<GrantPage> {
      const binding = { tenant: slug, operation: 'listGrants', query: filter }
      const page = openPage<[string, string]>(cursorKey, binding, { limit, cursor })
      const rows = await readTenant(database, slug, (tx) => grantsAfter(tx, filter, page.after, page.count))
      const { shown, next_cursor } = page.of(rows, (last) => [last.archetype_id, last.skill_id])
      return { items: shown.map((row) => ({ archetype_id: row.archetype_id, ...grantOf(row) })), next_cursor }
    },

    /** Returns the grants of an archetype. Throws `not-found` for one outside the bundle, as `replace` does. */
    ofArchetype({ slug }: Tenant, archetypeId: string): Promise<ArchetypeGrants> {
      const read = async (tx: TenantTx) => {
        await requireArchetype(tx, archetypeId)
        return toResponse(archetypeId, await grantsOfArchetype(tx, archetypeId))
      }
      return readTenant(database, slug, read)
    },

    /**
     * Grants the archetype these skills and no others. Existing grants stay unchanged. Throws `skill-not-registered`
     * with a pointer to each new skill that is unknown or retired. Repeating it changes nothing and writes no event.
     */
    replace: (caller: Caller, archetypeId: string, skillIds: readonly string[]): Promise<ArchetypeGrants> =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        await lockSkills(tx)
        await requireArchetype(tx, archetypeId)
        const before = await grantsOfArchetype(tx, archetypeId)
        const had = new Set(before.map((row) => row.skill_id))
        const wanted = new Set(skillIds)
        await requireSkills(tx, skillIds, had)
        const granted = sortedPairs(
          [...wanted].filter((id) => !had.has(id)).map((skill_id) => ({ archetype_id: archetypeId, skill_id })),
        )
        const revoked = sortedPairs(before.filter((row) => !wanted.has(row.skill_id)))
        if (granted.length + revoked.length === 0) return toResponse(archetypeId, before)

        if (revoked.length > 0) await deleteGrants(tx, revoked)
        if (granted.length > 0) {
          await insertGrants(tx, granted, { coworkId: null, now: formatTimestamp(Date.now()) })
        }
        await governance.append(tx, caller.tenant, {
          kind: 'skill.entitlement_changed',
          subject: `archetype:${archetypeId}`,
          details: { change: 'grants', ...grantDetails(granted, revoked) },
          actor: caller,
        })
        tx.afterCommit(() => events.publish('skillsChanged', { tenantId: tx.tenantId }))
        return toResponse(archetypeId, await grantsOfArchetype(tx, archetypeId))
      }),

    /** Revokes the grants of archetypes that leave the bundle, in the transaction that removes them, with one event. */
    async archetypesRemoved(
      tx: TenantTx,
      { tenant, archetypeIds, actor }: TransactionEvents['archetypesRemoved'],
    ): Promise<void> {
      if (archetypeIds.length === 0) return
      await lockSkills(tx)
      const revoked = sortedPairs(await deleteGrantsOfArchetypes(tx, archetypeIds))
      if (revoked.length === 0) return
      await governance.append(tx, tenant, {
        kind: 'skill.entitlement_changed',
        subject: `tenant:${tenant.slug}`,
        details: { change: 'archetypes_removed', ...grantDetails([], revoked) },
        actor,
      })
      tx.afterCommit(() => events.publish('skillsChanged', { tenantId: tx.tenantId }))
    },
  }
}

/** Requires that every skill is registered and not retired, except those granted already. */
async function requireSkills(tx: TenantTx, skillIds: readonly string[], had: ReadonlySet<string>): Promise<void> {
  const firstAt = new Map<string, number>()
  const repeated: PointedError[] = []
  for (const [index, id] of skillIds.entries()) {
    const first = firstAt.get(id)
    if (first === undefined) firstAt.set(id, index)
    else repeated.push({ pointer: `/skill_ids/${index}`, detail: `repeats /skill_ids/${first}` })
  }
  if (repeated.length > 0) throw validationFailed(repeated)

  const states = await statesOf(tx, skillIds)
  const errors = skillIds.flatMap((id, index) => {
    const state = states.get(id)
    if (had.has(id) || (state !== undefined && state !== 'retired')) return []
    return [{ pointer: `/skill_ids/${index}`, detail: state ? 'names a retired skill' : 'is not a registered skill' }]
  })
  if (errors.length === 0) return
  throw new DomainError(
    'skill-not-registered',
    'A skill can be granted if its skill_definition record exists or a pack with it was applied, and if it is not ' +
      'retired.',
    { errors },
  )
}

function toResponse(archetypeId: string, rows: readonly GrantRow[]): ArchetypeGrants {
  return { archetype_id: archetypeId, grants: rows.map(grantOf) }
}

function grantOf(row: GrantRow): ArchetypeGrants['grants'][number] {
  return {
    skill_id: row.skill_id,
    granted_at: row.granted_at,
    ...(row.cowork_id !== null && { cowork_id: row.cowork_id }),
  }
}
