import type { Static } from 'typebox'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { patterns, type SkillState } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { EventBus } from '../../event-bus.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import { coworksNaming, setSkills } from './coworks/coworks-store.ts'
import type { SkillList, SkillSchema } from './entitlement-schemas.ts'
import {
  ensureSkill,
  eraseNames,
  insertVersion,
  lockSkill,
  lockSkills,
  moveVersions,
  type SkillRow,
  setSkillState,
  skillRow,
  skillState,
  skillStates,
  skillsAfter,
  type VersionRow,
  versionsOf,
} from './entitlement-store.ts'
import type { SkillRegistry } from './entitlement-types.ts'

const idPattern = new RegExp(patterns.identifier)

/** The states that a skill may move to, by its current state. */
const steps: Record<SkillState, readonly SkillState[]> = {
  draft: ['published'],
  published: ['deprecated'],
  deprecated: ['published', 'retired'],
  retired: [],
}

/** The states of versions that follow their skill into a state. A draft waits for the next publication. */
const followers: Record<SkillState, readonly SkillState[]> = {
  draft: [],
  published: ['draft', 'deprecated'],
  deprecated: ['published'],
  retired: ['draft', 'published', 'deprecated'],
}

type Deps = Pick<ModuleParts, 'database' | 'governance' | 'cursorKey' | 'events'>

type Skill = Static<typeof SkillSchema>

export type Skills = ReturnType<typeof createSkills>

/** Lists the skills of a tenant, and moves them to other states. */
export function createSkills(deps: Deps) {
  const { database, cursorKey } = deps
  return {
    /** Returns a skill. Throws `not-found`. */
    get({ slug }: Tenant, skillId: string): Promise<Skill> {
      const read = async (tx: TenantTx) => {
        const row = idPattern.test(skillId) ? await skillRow(tx, skillId) : undefined
        if (!row) throw skillNotFound(skillId)
        return skillFrom(tx, row)
      }
      return readTenant(database, slug, read)
    },

    async list({ slug }: Tenant, asked: PageRequest) {
      const page = openPage<string>(cursorKey, { tenant: slug, operation: 'listSkills', query: {} }, asked)
      const read = async (tx: TenantTx): Promise<Static<typeof SkillList>> => {
        const rows = await skillsAfter(tx, page.after ?? '', page.count)
        const { shown, next_cursor } = page.of(rows, (last) => last.skill_id)
        return { items: await withVersions(tx, shown), next_cursor }
      }
      return readTenant(database, slug, read)
    },

    /**
     * Moves a skill to another state; its versions follow. `published` also publishes versions that are still drafts. A
     * call that changes nothing writes no event. Throws `not-found`, and `validation-failed` (pointer `/state`) for a
     * transition that is not allowed.
     */
    transition: (caller: Caller, skillId: string, state: SkillState) =>
      database.withTenant(caller.tenant.slug, (tx) => transition(tx, deps, { caller, skillId, state })),
  }
}

async function transition(
  tx: TenantTx,
  deps: Deps,
  { caller, skillId, state }: { caller: Caller; skillId: string; state: SkillState },
): Promise<Skill> {
  await lockSkills(tx)
  const before = idPattern.test(skillId) ? await lockSkill(tx, skillId) : undefined
  if (!before) throw skillNotFound(skillId)
  if (before.state !== state && !steps[before.state].includes(state)) throw stepRefused(before.state, state)
  const moved = state === before.state && state !== 'published' ? [] : followers[state]
  const versions = await moveVersions(tx, skillId, moved, state)
  if (before.state === state && versions.length === 0) return skillFrom(tx, before)

  const now = formatTimestamp(Date.now())
  await setSkillState(tx, skillId, state, now)
  await deps.governance.append(tx, caller.tenant, {
    kind: 'skill.entitlement_changed',
    subject: `skill:${skillId}`,
    details: { change: 'state', before: { state: before.state }, after: { state }, versions },
    actor: caller,
  })
  tx.afterCommit(() => {
    deps.events.publish('catalogueChanged', { tenantId: tx.tenantId })
    deps.events.publish('skillsChanged', { tenantId: tx.tenantId })
  })
  return skillFrom(tx, { ...before, state, updated_at: now })
}

async function skillFrom(tx: TenantTx, row: SkillRow): Promise<Skill> {
  const [skill] = await withVersions(tx, [row])
  return skill!
}

async function withVersions(tx: TenantTx, rows: readonly SkillRow[]): Promise<Skill[]> {
  if (rows.length === 0) return []
  const versions = await versionsOf(
    tx,
    rows.map((row) => row.skill_id),
  )
  const bySkill = Map.groupBy(versions, (version) => version.skill_id)
  return rows.map((row) => asSkill(row, bySkill.get(row.skill_id) ?? []))
}

function asSkill(row: SkillRow, versions: readonly VersionRow[]): Skill {
  const last = versions.at(-1)
  return {
    skill_id: row.skill_id,
    state: row.state,
    name: last ? nameOf(last) : row.skill_id,
    registered_at: row.created_at,
    updated_at: row.updated_at,
    versions: versions.map((version) => ({
      skill_version: version.skill_version,
      state: version.state,
      name: nameOf(version),
      record_id: version.record_id,
      registered_at: version.created_at,
    })),
  }
}

/** Returns the name of a version; empty if its record was erased. */
function nameOf(version: VersionRow): string {
  return version.name ?? ''
}

function skillNotFound(skillId: string): DomainError {
  const id = idPattern.test(skillId) ? skillId : 'of that id'
  return new DomainError('not-found', `No skill ${id} is registered. Write a skill_definition record to register it.`)
}

function stepRefused(from: SkillState, to: SkillState): DomainError {
  const allowed = steps[from]
  const next = allowed.length === 0 ? 'it is final' : `from there it goes to ${allowed.join(' or ')}`
  return validationFailed([{ pointer: '/state', detail: `cannot be ${to}: the skill is ${from}, and ${next}` }])
}

/** Creates the registry. It does not depend on governance, so the writer of governance events can depend on it. */
export function createSkillRegistry(deps: { events: EventBus }): SkillRegistry {
  return {
    async register(tx, skill) {
      await lockSkills(tx)
      await ensureSkill(tx, skill.skillId, skill.registeredAt)
      if (!(await insertVersion(tx, skill))) {
        throw new DomainError(
          'concurrent-modification',
          `Version ${skill.skillVersion} of the skill ${skill.skillId} is already registered. Use a new version.`,
          { errors: [{ pointer: '/skill_version', detail: 'is already registered' }] },
        )
      }
      tx.afterCommit(() => deps.events.publish('catalogueChanged', { tenantId: tx.tenantId }))
    },
    stateOf: skillState,
    allStates: skillStates,
  }
}

/**
 * Deletes the content of an erased definition from the registry and from packs: a pack keeps the id and version, but no
 * name, description, owner or manifest.
 */
export async function eraseSkills(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const definitions = records.filter((record) => record.record_type === 'skill_definition')
  if (definitions.length === 0) return
  await lockSkills(tx)
  const versions = await eraseNames(
    tx,
    definitions.map((record) => record.record_id),
  )
  if (versions.length === 0) return
  const gone = new Set(versions.map((version) => `${version.skill_id} ${version.skill_version}`))
  for (const { cowork_id, skills } of await coworksNaming(tx, versions)) {
    const kept = skills.map((skill) => {
      const { skill_id, skill_version } = skill
      return gone.has(`${skill_id} ${skill_version}`) ? { skill_id, skill_version, name: '' } : skill
    })
    await setSkills(tx, cowork_id, kept)
  }
}
