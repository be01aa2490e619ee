import { DomainError } from '../../../contract/domain-error.ts'
import { type Database, readTenant } from '../../db/database.ts'
import { contentEncryptor } from '../../db/record-encryption.ts'
import type { Caller } from '../../http/caller.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { Records } from '../records/records-types.ts'

/** Maximum number of skills that one request registers: names are from outside, and must not fill the registry. */
export const registeredSkillsMax = 20

/** A tenant with as many skills registers no further ones from events. */
export const skillsOfTenantMax = 1_000

/** Registers skills that events name, as drafts, each by a skill_definition record of the caller. */
export type RegisterSkills = (caller: Caller, skills: ReadonlyMap<string, string>) => Promise<void>

export function createSkillRegistration(deps: {
  database: Database
  records: Records
  skills: SkillRegistry
}): RegisterSkills {
  const { database, records, skills: registry } = deps

  return async ({ tenant, subject }, skills) => {
    const { size } = await readTenant(database, tenant.slug, (tx) => registry.allStates(tx))
    const room = Math.max(0, skillsOfTenantMax - size)
    for (const [skillId, skillVersion] of [...skills].slice(0, room)) {
      const fields = { skill_id: skillId, skill_version: skillVersion, name: skillId }
      const draft = { recordType: 'skill_definition' as const, createdBy: subject, fields }
      try {
        await database.withTenant(tenant.slug, async (tx) => {
          const encryptor = tenant.mode === 'B' ? await contentEncryptor(tx) : undefined
          const batch = await records.sealer.seal(tenant, [draft], tx, encryptor)
          const { recordId, createdAt } = batch.records[0]!
          await registry.register(tx, { skillId, skillVersion, name: skillId, recordId, registeredAt: createdAt })
          await records.writer.insert(tx, batch)
        })
      } catch (error) {
        // Another request registered it first.
        if (!(error instanceof DomainError && error.slug === 'concurrent-modification')) throw error
      }
    }
  }
}
