import type { TenantTx } from '../../db/database.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import { coworksNaming, setSkills } from './coworks/coworks-store.ts'
import { forgetNames, lockSkills } from './entitlement-store.ts'

/**
 * Deletes the content of an erased definition from the registry and from packs: a pack keeps the id and version, but no
 * name, description, owner or manifest.
 */
export async function forgetSkills(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const definitions = records.filter((record) => record.record_type === 'skill_definition')
  if (definitions.length === 0) return
  await lockSkills(tx)
  const versions = await forgetNames(
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
