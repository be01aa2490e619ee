import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { coworkGrantsMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { contentEncryptor } from '../../../db/record-encryption.ts'
import type { Caller } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Records } from '../../records/records-types.ts'
import { insertPublished, publishSkills, publishVersions, statesOf, versionsOf } from '../entitlement-store.ts'
import { grantDetails, named } from '../grants/grant-events.ts'
import { deleteGrants, grantsBetween, grantsOfCowork, insertGrants, reassignGrants } from '../grants/grants-store.ts'
import { type ApplicationPlan, planApplication } from './application-plan.ts'
import { type CoworkRow, otherApplications, setApplication } from './coworks-store.ts'
import type { Application, CoworkSkill } from './coworks-types.ts'

interface Deps extends Pick<ModuleParts, 'governance' | 'events'> {
  records: Records
}

interface Order {
  caller: Caller
  row: CoworkRow
  /** Skills of the pack, decrypted. */
  skills: readonly CoworkSkill[]
  /** Archetypes of the bundle, without duplicates. */
  archetypeIds: readonly string[]
  dryRun: boolean
}

/** Applies a pack inside a transaction that holds the lock of the tenant's skills. */
export async function applyPack(tx: TenantTx, deps: Deps, order: Order): Promise<Application> {
  const { caller, row, skills, archetypeIds, dryRun } = order
  requireFewGrants(skills.length * archetypeIds.length)
  const plan = await planFor(tx, order)
  const answer = toResponse(order, plan)
  if (answer.unchanged || dryRun) return { ...answer, ...(row.applied_at !== null && { applied_at: row.applied_at }) }

  const now = formatTimestamp(Date.now())
  await carryOut(tx, deps.records, order, plan, now)
  const application: Application = { ...answer, applied_at: now }
  await setApplication(tx, { coworkId: row.cowork_id, by: caller.subject, now, application })
  await deps.governance.append(tx, caller.tenant, {
    kind: 'skill.entitlement_changed',
    subject: `cowork:${row.cowork_id}`,
    details: eventDetails(row.application, application, plan),
    actor: caller,
  })
  tx.afterCommit(() => {
    if (plan.published.length > 0) deps.events.publish('catalogueChanged', { tenantId: tx.tenantId })
    deps.events.publish('skillsChanged', { tenantId: tx.tenantId })
  })
  return application
}

async function planFor(tx: TenantTx, { row, skills, archetypeIds }: Order): Promise<ApplicationPlan> {
  const skillIds = skills.map((skill) => skill.skill_id)
  const states = await statesOf(tx, skillIds)
  const retired = skills.flatMap(({ skill_id }, index) =>
    states.get(skill_id) === 'retired'
      ? [{ pointer: `/skills/${index}/skill_id`, detail: `of the pack names ${skill_id}, which is retired` }]
      : [],
  )
  if (retired.length > 0) throw retiredSkills(retired)
  const own = await grantsOfCowork(tx, row.cowork_id)
  const ownKeys = new Set(own.map((grant) => `${grant.archetype_id} ${grant.skill_id}`))
  const wanted = await grantsBetween(tx, archetypeIds, skillIds)
  const plan = planApplication({
    coworkId: row.cowork_id,
    skills,
    archetypeIds,
    states,
    versions: await versionsOf(tx, skillIds),
    grants: [...own, ...wanted.filter((grant) => !ownKeys.has(`${grant.archetype_id} ${grant.skill_id}`))],
    others: await otherApplications(tx, row.cowork_id),
  })
  requireNames(skills, plan)
  return plan
}

/** Rejects skills whose key was destroyed, since their names are lost. */
function requireNames(skills: readonly CoworkSkill[], { register }: ApplicationPlan): void {
  const errors = skills.flatMap((skill, index) =>
    skill.name === '' && register.includes(skill)
      ? [
          {
            pointer: `/skills/${index}/name`,
            detail: 'was lost when the key of the tenant was destroyed: store the pack again',
          },
        ]
      : [],
  )
  if (errors.length > 0) throw validationFailed(errors)
}

async function carryOut(tx: TenantTx, records: Records, order: Order, plan: ApplicationPlan, now: string) {
  if (plan.register.length > 0) await register(tx, records, order.caller, plan.register)
  if (plan.publish.length > 0) await publishVersions(tx, plan.publish)
  if (plan.published.length > 0) await publishSkills(tx, plan.published, now)
  if (plan.granted.length > 0) await insertGrants(tx, plan.granted, { coworkId: order.row.cowork_id, now })
  if (plan.revoked.length > 0) await deleteGrants(tx, plan.revoked)
  for (const { coworkId, pairs } of plan.passed) await reassignGrants(tx, pairs, coworkId)
}

/** Registers each version by a skill_definition record of the caller. */
async function register(tx: TenantTx, records: Records, { tenant, subject }: Caller, skills: readonly CoworkSkill[]) {
  const drafts = skills.map((skill) => ({
    recordType: 'skill_definition' as const,
    createdBy: subject,
    fields: { ...skill } as JsonObject,
  }))
  const batch = await records.sealer.seal(
    tenant,
    drafts,
    tx,
    tenant.mode === 'B' ? await contentEncryptor(tx) : undefined,
  )
  await insertPublished(
    tx,
    skills.map((skill, index) => ({
      skillId: skill.skill_id,
      skillVersion: skill.skill_version,
      name: skill.name,
      recordId: batch.records[index]!.recordId,
      registeredAt: batch.records[index]!.createdAt,
    })),
  )
  await records.writer.insert(tx, batch)
}

function toResponse({ row, skills, archetypeIds, dryRun }: Order, plan: ApplicationPlan): Application {
  const reach = {
    archetype_ids: [...archetypeIds].sort(),
    skill_ids: skills.map((skill) => skill.skill_id).sort(),
  }
  const { published, granted, revoked } = plan
  const last = row.application
  const sameReach =
    last !== null && isEqual(last.archetype_ids, reach.archetype_ids) && isEqual(last.skill_ids, reach.skill_ids)
  return {
    cowork_id: row.cowork_id,
    dry_run: dryRun,
    ...reach,
    registered: plan.register.map(({ skill_id, skill_version }) => ({ skill_id, skill_version })),
    published,
    granted,
    revoked,
    unchanged: sameReach && published.length + granted.length + revoked.length + plan.passed.length === 0,
  }
}

function eventDetails(before: Application | null, after: Application, plan: ApplicationPlan): JsonObject {
  return {
    change: 'cowork_applied',
    before: before === null ? {} : reachOf(before),
    after: reachOf(after),
    registered: named(after.registered),
    registered_count: after.registered.length,
    published: named(after.published),
    published_count: after.published.length,
    ...grantDetails(plan.granted, plan.revoked),
  }
}

function reachOf({ archetype_ids, skill_ids }: Application): JsonObject {
  return { archetype_ids: named(archetype_ids), skill_ids: named(skill_ids) }
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index])
}

function requireFewGrants(count: number): void {
  if (count <= coworkGrantsMax) return
  throw validationFailed([
    {
      pointer: '/archetype_ids',
      detail: `times the skills of the pack make ${count} grants; a pack can make at most ${coworkGrantsMax}`,
    },
  ])
}

function retiredSkills(errors: PointedError[]): DomainError {
  return new DomainError(
    'skill-not-registered',
    'The pack contains retired skills, which cannot be published again. Store the pack without them, then apply it.',
    { errors },
  )
}
