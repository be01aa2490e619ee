import { hash } from 'node:crypto'
import { DomainError } from '../../../contract/domain-error.ts'
import { skillManifestBytesMax } from '../../../contract/limits.ts'
import { canonicalize, signSkillManifest } from '../../../provenance/index.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { EntitledSkill } from '../entitlement/entitlement-types.ts'
import type { ProvenanceSigner } from '../keys/keys-types.ts'

/** The skills of a tenant at one time, equal for every connector. */
export interface SkillSet {
  skills: JsonValue[]
  /** `sha256:` and the hash of the canonical skills. */
  revision: string
  /** Weak, since the time of the signature differs. */
  etag: string
}

export function skillSetOf(published: readonly EntitledSkill[]): SkillSet {
  const skills = published.map(
    (skill): JsonObject => ({
      skill_id: skill.skillId,
      skill_version: skill.skillVersion,
      name: skill.name,
      ...(skill.description !== undefined && { description: skill.description }),
      record_id: skill.recordId,
      provenance_hash: skill.provenanceHash,
      archetype_ids: [...skill.archetypeIds],
      ...(skill.manifest !== undefined && { manifest: skill.manifest as JsonValue }),
    }),
  )
  const digest = hash('sha256', canonicalize(skills), 'hex')
  return { skills, revision: `sha256:${digest}`, etag: `W/"${digest}"` }
}

/**
 * Returns the manifest of a connector, signed now, as JSON with its note in `signature`.
 *
 * @throws DomainError `payload-too-large` beyond 16 MiB
 */
export function signedManifest(
  set: SkillSet,
  connector: { tenant: string; connectorId: string; platform: string },
  signer: ProvenanceSigner,
): { manifest: JsonObject; text: string } {
  const { tenant, connectorId, platform } = connector
  const { skills, revision } = set
  const manifest = signSkillManifest(
    { version: 1, tenant, connector_id: connectorId, platform, revision, skills },
    {
      ...signer,
      timeMicros: Date.now() * 1000,
      sha256: (bytes) => hash('sha256', bytes, 'buffer'),
      sign: (message) => signer.sign(message),
    },
  )
  const text = JSON.stringify(manifest)
  if (Buffer.byteLength(text) > skillManifestBytesMax) {
    const limit = `${skillManifestBytesMax / 1024 / 1024} MiB`
    throw new DomainError(
      'payload-too-large',
      `The manifest of the published skills is larger than ${limit}. Move large files of skills elsewhere.`,
    )
  }
  return { manifest, text }
}
