import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { canonicalize } from '../../../../provenance/index.ts'
import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import { contentEncryptor } from '../../../db/record-encryption.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openCursor, type PageRequest, signCursor } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Records } from '../../records/records-types.ts'
import type { ArchetypeBundle } from '../../roster/roster-types.ts'
import { lockSkills } from '../entitlement-store.ts'
import { named } from '../grants/grant-events.ts'
import { applyPack } from './application-service.ts'
import type { CoworkContents } from './cowork-contents.ts'
import type { ApplicationBody, CoworkList } from './coworks-schemas.ts'
import { type CoworkRow, coworkRow, coworksAfter, putCowork } from './coworks-store.ts'
import type { Cowork, CoworkBody } from './coworks-types.ts'

const idPattern = new RegExp(patterns.identifier)

interface Deps extends Pick<ModuleParts, 'database' | 'governance' | 'events' | 'cursorKey'> {
  records: Records
  contents: CoworkContents
  bundle: ArchetypeBundle
}

export type Coworks = ReturnType<typeof createCoworks>

/** Manages packs. Methods about one pack throw `not-found` if it is not stored; `replace` stores it instead. */
export function createCoworks(deps: Deps) {
  const { database, bundle, contents, cursorKey } = deps

  async function toResponse(tx: TenantTx, tenant: Tenant, row: Omit<CoworkRow, 'application'>): Promise<Cowork> {
    return {
      cowork_id: row.cowork_id,
      name: row.name,
      skills: await contents.decrypt(tx, tenant, row.cowork_id, row.skills),
      archetype_ids: row.archetype_ids,
      created_at: row.created_at,
      updated_at: row.updated_at,
      ...(row.applied_at !== null && { applied_at: row.applied_at }),
    }
  }

  return {
    async list(tenant: Tenant, { limit = pageSizeDefault, cursor }: PageRequest) {
      const binding = { tenant: tenant.slug, operation: 'listCoworks', query: {} }
      const after = cursor === undefined ? '' : String(openCursor(cursorKey, binding, cursor))
      const read = async (tx: TenantTx): Promise<Static<typeof CoworkList>> => {
        const { rows, more } = await coworksAfter(tx, after, limit)
        const items: Cowork[] = []
        for (const row of rows) items.push(await toResponse(tx, tenant, row))
        return { items, next_cursor: more ? signCursor(cursorKey, binding, rows.at(-1)!.cowork_id) : null }
      }
      return readTenant(database, tenant.slug, read)
    },

    get(tenant: Tenant, coworkId: string) {
      const read = async (tx: TenantTx) => toResponse(tx, tenant, await existing(tx, coworkId))
      return readTenant(database, tenant.slug, read)
    },

    /**
     * Stores a pack without applying it. Repeating it changes nothing and writes no event. Throws `validation-failed`
     * with a pointer to each duplicate skill or archetype, and to each archetype outside the bundle.
     */
    replace: (caller: Caller, coworkId: string, body: CoworkBody) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        await lockSkills(tx)
        await checkBody(tx, bundle, body)
        const row = await coworkRow(tx, coworkId)
        const before = row && (await toResponse(tx, caller.tenant, row))
        if (before && canonicalize(bodyOf(before)) === canonicalize(bodyOf(body))) return before
        await store(tx, deps, { caller, coworkId, body, before })
        return toResponse(tx, caller.tenant, await existing(tx, coworkId))
      }),

    /**
     * Applies a pack: registers its missing versions, publishes its skills, grants them to the archetypes, and revokes
     * the grants that the pack no longer contains, in one transaction with one event. Grants that another applied pack
     * contains stay. Repeating it changes nothing and writes no event. Throws `validation-failed` for archetypes outside
     * the bundle and for unregistered versions whose names were lost with a key, `skill-not-registered` for retired
     * skills (pointers into the pack), and `hub-not-provisioned`.
     */
    apply: (caller: Caller, coworkId: string, { archetype_ids, dry_run = false }: Static<typeof ApplicationBody>) =>
      database.withTenant(
        caller.tenant.slug,
        async (tx) => {
          await lockSkills(tx)
          const row = await existing(tx, coworkId)
          if (caller.tenant.mode === 'B') await contentEncryptor(tx)
          const archetypeIds = archetype_ids ?? row.archetype_ids
          const whose = archetype_ids === undefined ? 'of the pack ' : ''
          refuse(await archetypeErrors(tx, bundle, archetypeIds, whose))
          const skills = await contents.decrypt(tx, caller.tenant, coworkId, row.skills)
          return applyPack(tx, deps, { caller, row, skills, archetypeIds, dryRun: dry_run })
        },
        { readOnly: dry_run },
      ),

    /** Returns the last application that changed something. Throws `not-found` before the first. */
    application: (tenant: Tenant, coworkId: string) =>
      readTenant(database, tenant.slug, async (tx) => {
        const { application } = await existing(tx, coworkId)
        if (application !== null) return application
        throw new DomainError(
          'not-found',
          `The pack ${coworkId} has not been applied yet: POST /api/v1/skill-entitlement/coworks/${coworkId}/apply.`,
        )
      }),
  }
}

async function store(
  tx: TenantTx,
  deps: Deps,
  {
    caller,
    coworkId,
    body,
    before,
  }: { caller: Caller; coworkId: string; body: CoworkBody; before: Cowork | undefined },
): Promise<void> {
  await putCowork(tx, {
    coworkId,
    name: body.name,
    skills: await deps.contents.encrypt(tx, caller.tenant, coworkId, body.skills),
    archetypeIds: body.archetype_ids,
    now: formatTimestamp(Date.now()),
  })
  await deps.governance.append(tx, caller.tenant, {
    kind: 'tenant.config_changed',
    subject: `cowork:${coworkId}`,
    details: { change: 'cowork', before: before ? outlineOf(before) : {}, after: outlineOf(body) },
    actor: caller,
  })
}

async function existing(tx: TenantTx, coworkId: string): Promise<CoworkRow> {
  const row = idPattern.test(coworkId) ? await coworkRow(tx, coworkId) : undefined
  if (row) return row
  const id = idPattern.test(coworkId) ? coworkId : 'of that id'
  throw new DomainError(
    'not-found',
    `No pack ${id} is stored. PUT /api/v1/skill-entitlement/coworks/{cowork_id} stores one.`,
  )
}

async function checkBody(tx: TenantTx, bundle: ArchetypeBundle, { skills, archetype_ids }: CoworkBody): Promise<void> {
  const firstAt = new Map<string, number>()
  const errors: PointedError[] = []
  for (const [index, { skill_id }] of skills.entries()) {
    const first = firstAt.get(skill_id)
    if (first === undefined) firstAt.set(skill_id, index)
    else errors.push({ pointer: `/skills/${index}/skill_id`, detail: `repeats /skills/${first}/skill_id` })
  }
  refuse([...errors, ...(await archetypeErrors(tx, bundle, archetype_ids))])
}

/** Returns an error for each archetype that is not in the bundle or occurs twice. */
async function archetypeErrors(
  tx: TenantTx,
  bundle: ArchetypeBundle,
  ids: readonly string[],
  whose = '',
): Promise<PointedError[]> {
  const known = await bundle.allIds(tx)
  const seen = new Set<string>()
  return ids.flatMap((id, index) => {
    const pointer = `/archetype_ids/${index}`
    if (seen.has(id)) return [{ pointer, detail: `${whose}names an archetype a second time` }]
    seen.add(id)
    return known.has(id) ? [] : [{ pointer, detail: `${whose}is not an archetype of the tenant's bundle` }]
  })
}

function refuse(errors: PointedError[]): void {
  if (errors.length > 0) throw validationFailed(errors)
}

function bodyOf({ name, skills, archetype_ids }: CoworkBody): JsonValue {
  return { name, skills, archetype_ids } as unknown as JsonValue
}

/** Returns the details of a pack for governance events, which outlive it: ids only, without names and content. */
function outlineOf({ skills, archetype_ids }: CoworkBody): JsonObject {
  return {
    skills: named(skills.map(({ skill_id, skill_version }) => ({ skill_id, skill_version }))),
    archetype_ids: named(archetype_ids),
  }
}
