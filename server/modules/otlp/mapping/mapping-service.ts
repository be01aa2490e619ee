import type { Static } from 'typebox'
import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { canonicalize, type JsonValue } from '../../../../provenance/index.ts'
import { TenantCache } from '../../../cached-fetch.ts'
import { readTenant } from '../../../db/database.ts'
import { errorAt } from '../../../http/body/json-violations.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { isContent } from './attribute-names.ts'
import { defaultMapping, type OtlpMapping, type OtlpMappingBody } from './mapping-schemas.ts'
import { findMapping, saveMapping } from './mapping-store.ts'

export interface OtlpMappings {
  /** Returns the mapping, at most one second old, and never older than the last change by this process. */
  of(tenantId: string): Promise<OtlpMapping>
  get(tenant: Tenant): Promise<OtlpMapping>
  /**
   * Replaces the mapping, and returns the stored one. Repeating it changes nothing and writes no event. Throws
   * `validation-failed` for a rule about a content attribute.
   */
  replace(caller: Caller, body: Static<typeof OtlpMappingBody>): Promise<OtlpMapping>
}

export function createOtlpMappings(deps: Pick<ModuleParts, 'database' | 'governance'>): OtlpMappings {
  const { database, governance } = deps
  const read = (tenantId: string) =>
    readTenant(database, tenantId, async (tx) => (await findMapping(tx)) ?? defaultMapping)
  const cache = new TenantCache(read)

  return {
    of: (tenantId) => cache.get(tenantId),
    get: (tenant) => read(tenant.slug),

    async replace(caller, body) {
      const { tenant } = caller
      const after: OtlpMapping = { ...defaultMapping, ...body }
      const faults = contentRules(after)
      if (faults.length > 0) throw validationFailed(faults)
      await database.withTenant(tenant.slug, async (tx) => {
        const before = await findMapping(tx)
        if (before && sameMapping(before, after)) return
        await saveMapping(tx, after, formatTimestamp(Date.now()))
        // Conditions may name people, so the event counts rules and does not repeat them.
        const describe = ({ rules, ...rest }: OtlpMapping) => ({ ...rest, rules: rules.length })
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `tenant:${tenant.slug}`,
          details: {
            change: 'otlp_mapping',
            before: describe(before ?? defaultMapping),
            after: describe(after),
          },
          actor: caller,
        })
        tx.afterCommit(() => cache.drop(tenant.slug))
      })
      return after
    },
  }
}

function sameMapping(a: OtlpMapping, b: OtlpMapping): boolean {
  return canonicalize(a as unknown as JsonValue) === canonicalize(b as unknown as JsonValue)
}

function contentRules({ rules }: OtlpMapping): PointedError[] {
  return rules.flatMap(({ when }, index) =>
    Object.keys(when)
      .filter(isContent)
      .map((name) => {
        const { pointer } = errorAt([name], '')
        return {
          pointer: `/rules/${index}/when${pointer}`,
          detail: 'must not be a content attribute, which is never read',
        }
      }),
  )
}
