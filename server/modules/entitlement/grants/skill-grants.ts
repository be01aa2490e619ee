import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { ReadableRecords } from '../../records/records-types.ts'
import type { EntitledSkill, SkillGrants } from '../entitlement-types.ts'
import { countPublished, grantsOfPublished, type PublishedVersionRow, publishedVersions } from './grants-store.ts'

/** A version whose definition is readable. */
interface Definition {
  version: PublishedVersionRow
  members: JsonObject
  provenanceHash: string
}

/**
 * Creates the source of skills for connectors. Skips a version whose definition is purged or erased; the previous
 * published version takes its place, if there is one.
 */
export function createSkillGrants(deps: { readable: ReadableRecords }): SkillGrants {
  return {
    async published(tx) {
      const versions = Map.groupBy(await publishedVersions(tx), (version) => version.skill_id)
      const grants = Map.groupBy(await grantsOfPublished(tx), (grant) => grant.skill_id)
      const definitions = await newestReadable(tx, deps.readable, versions)
      return [...versions.keys()].flatMap((skillId) => {
        const definition = definitions.get(skillId)
        const archetypeIds = (grants.get(skillId) ?? []).map((grant) => grant.archetype_id)
        return definition ? [entitled(definition, archetypeIds)] : []
      })
    },
    counts: countPublished,
  }
}

/**
 * Returns the first readable version of each skill. Takes one round for all skills, plus one for each unreadable
 * version.
 */
async function newestReadable(
  tx: TenantTx,
  readable: ReadableRecords,
  versions: ReadonlyMap<string, readonly PublishedVersionRow[]>,
): Promise<Map<string, Definition>> {
  const found = new Map<string, Definition>()
  let open = [...versions.values()]
  for (let place = 0; open.length > 0; place += 1) {
    const candidates = open.flatMap((ofSkill) => ofSkill[place] ?? [])
    const records = await readable(
      tx,
      candidates.map((version) => version.record_id),
    )
    for (const version of candidates) {
      const record = records.get(version.record_id)
      if (record) found.set(version.skill_id, { version, ...record })
    }
    open = open.filter((ofSkill) => ofSkill.length > place + 1 && !found.has(ofSkill[0]!.skill_id))
  }
  return found
}

function entitled({ version, members, provenanceHash }: Definition, archetypeIds: readonly string[]): EntitledSkill {
  const { description, manifest } = members
  return {
    skillId: version.skill_id,
    skillVersion: version.skill_version,
    name: version.name ?? '',
    ...(typeof description === 'string' && { description }),
    recordId: version.record_id,
    provenanceHash,
    ...(manifest !== undefined && { manifest }),
    archetypeIds,
  }
}
