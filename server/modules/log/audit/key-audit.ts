import type { KeyRing } from '../../../../provenance/index.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenanceKeyAudit } from '../../keys/keys-types.ts'
import type { Findings } from './findings.ts'

export interface LogKeys {
  /** Those to be trusted. */
  keys: KeyRing
  /** Why the others are not, by key id. */
  distrusted: ReadonlyMap<string, string>
}

/**
 * The keys of a log. Trusted are those whose private half opens under the master key: nobody who has the database alone
 * can have put them there. What else is wrong with stored and published keys is a failure.
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
