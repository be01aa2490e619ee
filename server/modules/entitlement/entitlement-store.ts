import type { SkillState } from '../../../contract/literals.ts'
import { skillsLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { decryptContent, isErased } from '../../db/record-encryption.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { findRow, findRows, updateRows } from '../../db/tenant-rows.ts'
import type { SkillRegistration } from './entitlement-types.ts'

export type SkillRow = Omit<TenantTables['hub.skills'], 'tenant_id'>
export type VersionRow = Omit<TenantTables['hub.skill_versions'], 'tenant_id'>

/** Serialises changes of one tenant's skills, packs and grants. */
export async function lockSkills(tx: TenantTx): Promise<void> {
  await lockTenant(tx, skillsLockClass)
}

/** Inserts a skill as draft; an existing one stays unchanged. */
export async function ensureSkill(tx: TenantTx, skillId: string, now: string): Promise<void> {
  await tx.client.query(
    `insert into hub.skills (tenant_id, skill_id, state, created_at, updated_at) values ($1, $2, 'draft', $3, $3)
     on conflict (tenant_id, skill_id) do nothing`,
    [tx.tenantId, skillId, now],
  )
}

/** Encrypts names in Mode B: they are content, as the records are that they come from. */
async function sealedNames(tx: TenantTx, skills: readonly SkillRegistration[]): Promise<string[]> {
  const encryptor = await tx.contents.encryptor(tx)
  return skills.map(({ recordId, name }) => (encryptor ? encryptor.encrypt(recordId, name) : name))
}

/** Returns the name of a version; null if it was erased or its key destroyed. */
export function openName(tx: TenantTx, { record_id, name }: Pick<VersionRow, 'record_id' | 'name'>): string | null {
  const opened = name === null ? null : decryptContent(tx, record_id, name)
  return isErased(tx, opened) ? null : opened
}

/** Inserts a version. Returns false if it exists. */
export async function insertVersion(tx: TenantTx, skill: SkillRegistration): Promise<boolean> {
  const [name] = await sealedNames(tx, [skill])
  const { rowCount } = await tx.client.query(
    `insert into hub.skill_versions (tenant_id, skill_id, skill_version, state, name, record_id, created_at)
     values ($1, $2, $3, 'draft', $4, $5, $6)
     on conflict (tenant_id, skill_id, skill_version) do nothing`,
    [tx.tenantId, skill.skillId, skill.skillVersion, name, skill.recordId, skill.registeredAt],
  )
  return rowCount === 1
}

/** Inserts new versions as published, with their skills. New skills are published too. */
export async function insertPublished(tx: TenantTx, skills: readonly SkillRegistration[]): Promise<void> {
  const ids = skills.map((skill) => skill.skillId)
  const times = skills.map((skill) => skill.registeredAt)
  await tx.client.query(
    `insert into hub.skills (tenant_id, skill_id, state, created_at, updated_at)
     select $1, given.skill_id, 'published', given.registered_at, given.registered_at
     from unnest($2::text[], $3::timestamptz[]) as given (skill_id, registered_at)
     on conflict (tenant_id, skill_id) do nothing`,
    [tx.tenantId, ids, times],
  )
  await tx.client.query(
    `insert into hub.skill_versions (tenant_id, skill_id, skill_version, state, name, record_id, created_at)
     select $1, given.skill_id, given.skill_version, 'published', given.name, given.record_id, given.registered_at
     from unnest($2::text[], $3::text[], $4::text[], $5::uuid[], $6::timestamptz[])
       as given (skill_id, skill_version, name, record_id, registered_at)
     on conflict do nothing`,
    [
      tx.tenantId,
      ids,
      skills.map((skill) => skill.skillVersion),
      await sealedNames(tx, skills),
      skills.map((skill) => skill.recordId),
      times,
    ],
  )
}

export async function publishSkills(tx: TenantTx, skillIds: readonly string[], now: string): Promise<void> {
  await tx.client.query(
    `update hub.skills set state = 'published', updated_at = $3 where tenant_id = $1 and skill_id = any($2::text[])`,
    [tx.tenantId, skillIds, now],
  )
}

export async function publishVersions(
  tx: TenantTx,
  versions: readonly Pick<VersionRow, 'skill_id' | 'skill_version'>[],
): Promise<void> {
  await tx.client.query(
    `update hub.skill_versions set state = 'published'
     where tenant_id = $1 and (skill_id, skill_version) in (
       select given.skill_id, given.skill_version
       from unnest($2::text[], $3::text[]) as given (skill_id, skill_version))`,
    [tx.tenantId, versions.map((version) => version.skill_id), versions.map((version) => version.skill_version)],
  )
}

export async function skillState(tx: TenantTx, skillId: string): Promise<SkillState | undefined> {
  return (await findRow(tx, 'hub.skills', ['state'], { skill_id: skillId }))?.state
}

/** Returns the states of the registered skills among these. */
export async function statesOf(tx: TenantTx, skillIds: readonly string[]): Promise<Map<string, SkillState>> {
  const { rows } = await tx.client.query<SkillRow>(
    'select skill_id, state from hub.skills where tenant_id = $1 and skill_id = any($2::text[])',
    [tx.tenantId, skillIds],
  )
  return new Map(rows.map((row) => [row.skill_id, row.state]))
}

export async function skillStates(tx: TenantTx): Promise<Map<string, SkillState>> {
  const rows = await findRows(tx, 'hub.skills', ['skill_id', 'state'])
  return new Map(rows.map((row) => [row.skill_id, row.state]))
}

export function skillRow(tx: TenantTx, skillId: string): Promise<SkillRow | undefined> {
  return findRow(tx, 'hub.skills', ['skill_id', 'state', 'created_at', 'updated_at'], { skill_id: skillId })
}

/** Returns a skill and locks its row until the transaction ends. */
export function lockSkill(tx: TenantTx, skillId: string): Promise<SkillRow | undefined> {
  return findRow(
    tx,
    'hub.skills',
    ['skill_id', 'state', 'created_at', 'updated_at'],
    { skill_id: skillId },
    'for update',
  )
}

/** Returns skills in the byte order of their ids, regardless of the collation of the database. */
export async function skillsAfter(tx: TenantTx, after: string, count: number): Promise<SkillRow[]> {
  const { rows } = await tx.client.query<SkillRow>(
    `select skill_id, state, created_at, updated_at from hub.skills
     where tenant_id = $1 and skill_id collate "C" > $2
     order by skill_id collate "C" limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

export async function versionsOf(tx: TenantTx, skillIds: readonly string[]): Promise<VersionRow[]> {
  const { rows } = await tx.client.query<VersionRow>(
    `select skill_id, skill_version, state, name, record_id, created_at from hub.skill_versions
     where tenant_id = $1 and skill_id = any($2::text[])
     order by created_at, record_id`,
    [tx.tenantId, skillIds],
  )
  return rows.map((row) => ({ ...row, name: openName(tx, row) }))
}

export async function setSkillState(tx: TenantTx, skillId: string, state: SkillState, now: string): Promise<void> {
  await updateRows(tx, 'hub.skills', { skill_id: skillId }, { state, updated_at: now })
}

/** Moves the versions in one of the states `from` to another, and returns them. */
export async function moveVersions(
  tx: TenantTx,
  skillId: string,
  from: readonly SkillState[],
  to: SkillState,
): Promise<string[]> {
  const { rows } = await tx.client.query<{ skill_version: string }>(
    `update hub.skill_versions set state = $4
     where tenant_id = $1 and skill_id = $2 and state = any($3::text[])
     returning skill_version`,
    [tx.tenantId, skillId, from, to],
  )
  return rows.map((row) => row.skill_version).sort()
}

/**
 * Deletes the names of versions whose records are erased, since names are content. The versions stay registered;
 * returns them.
 */
export async function eraseNames(
  tx: TenantTx,
  recordIds: readonly string[],
): Promise<Pick<VersionRow, 'skill_id' | 'skill_version'>[]> {
  const { rows } = await tx.client.query<Pick<VersionRow, 'skill_id' | 'skill_version'>>(
    `update hub.skill_versions set name = null where tenant_id = $1 and record_id = any($2::uuid[])
     returning skill_id, skill_version`,
    [tx.tenantId, recordIds],
  )
  return rows
}
