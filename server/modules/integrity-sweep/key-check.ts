import type { JsonValue } from '../../../provenance/json.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ProvenanceKeyAudit } from '../keys/keys-types.ts'
import { listed } from './finding.ts'
import type { Finding } from './sweep-types.ts'

/** Checks that the service created the stored and published keys of a log. */
export function createKeyCheck({ keys }: { keys: ProvenanceKeyAudit }) {
  return async (tenant: Tenant): Promise<Finding[]> => {
    const { problems } = await keys.auditKeys(tenant)
    if (problems.length === 0) return []
    const failedChecks = [...new Set(problems.map(({ check }) => check))]
    const found: Record<string, JsonValue> = {}
    for (const check of failedChecks) {
      const ids = problems.flatMap((each) => (each.check === check ? (each.keyId ?? []) : []))
      Object.assign(found, listed(check, ids))
    }
    return [{ subject: `keys:${tenant.logName}`, failedChecks, found }]
  }
}
