import type { KeyRing } from '../../../../provenance/index.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenanceKeyAudit } from '../../keys/keys-types.ts'
import type { Findings } from './findings.ts'

export interface LogKeys {
  /** The trusted keys. */
  keys: KeyRing
  /** The reasons against the other keys, by key id. */
  distrusted: ReadonlyMap<string, string>
}

/**
 * Audits the keys of a log. A key is trusted if its private key decrypts under the master key, because access to the
 * database alone cannot add such a key. Other problems of stored and published keys are failures.
 */
export async function auditKeys(
  tenant: Tenant,
  { auditKeys: read }: ProvenanceKeyAudit,
  findings: Findings,
): Promise<LogKeys> {
  const { keys, problems } = await read(tenant)
  const distrusted = new Map<string, string>()
  for (const { keyId, problem } of problems) {
    findings.add(keyId === undefined ? 'keys' : `key:${keyId}`, problem)
    if (keyId !== undefined) distrusted.set(keyId, problem)
  }
  return { keys: new Map(keys.map((key) => [key.keyId, key])), distrusted }
}
