import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { exportQuotaMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import type { Database } from '../../db/database.ts'
import { provenEntry, type TenantRow, tenantBySlug } from './tenants-store.ts'
import type { RateLimit, TenantChanges } from './tenants-types.ts'

type ExportQuotaChange = NonNullable<TenantChanges['export_quota']>

export const limitMax = 1_000_000_000
const slugPattern = new RegExp(patterns.tenantSlug)

/** Returns the entry of a tenant. Throws `not-found` if it does not exist. */
export async function existingTenant(database: Pick<Database, 'withRegistry'>, slug: string): Promise<TenantRow> {
  const row = slugPattern.test(slug) ? await database.withRegistry((tx) => tenantBySlug(tx, slug)) : undefined
  if (row) return row
  throw new DomainError(
    'not-found',
    `The tenant ${JSON.stringify(slug)} does not exist. Create it with: POST /api/v1/operator/tenants, or npm run hub -- tenant create ${slug}`,
  )
}

/**
 * Returns the entry of a tenant if its proof holds. Otherwise throws, so that nothing is issued or changed by a forged
 * entry.
 */
export async function provenTenant(database: Pick<Database, 'withRegistry'>, slug: string): Promise<TenantRow> {
  const row = await existingTenant(database, slug)
  const proven = await database.withRegistry(async (tx) => provenEntry(tx, row))
  if (proven) return proven
  const detail = `The entry of tenant ${slug} was changed outside of the Hub. Restore its former address, mode, log name and suspension.`
  throw new DomainError('concurrent-modification', detail)
}

/** @param pointer the pointer to the limit in the request body */
export function checkLimit(limit: RateLimit, pointer: string): void {
  const errors = [
    { pointer: `${pointer}/per_token`, value: limit.perToken },
    { pointer: `${pointer}/per_tenant`, value: limit.perTenant },
  ]
    .filter(({ value }) => !Number.isInteger(value) || value < 1 || value > limitMax)
    .map((each) => ({
      pointer: each.pointer,
      detail: `must be a whole number of requests per minute, 1 to ${limitMax}`,
    }))
  if (errors.length > 0) throw validationFailed(errors)
}

/** Throws `validation-failed` for a quota out of bounds. The command line has no schema that checks it. */
export function checkExportQuota({ exports_per_day: perDay, mb_kept: mbKept }: ExportQuotaChange): void {
  const errors = [
    { pointer: '/export_quota/exports_per_day', value: perDay, maximum: exportQuotaMax.perDay },
    { pointer: '/export_quota/mb_kept', value: mbKept, maximum: exportQuotaMax.mbKept },
  ]
    .filter(({ value, maximum }) => value != null && !(Number.isInteger(value) && value >= 1 && value <= maximum))
    .map(({ pointer, maximum }) => ({ pointer, detail: `must be a whole number of 1 to ${maximum}` }))
  if (errors.length > 0) throw validationFailed(errors)
}

/** Returns a limit with the names of responses and events. */
export function limitDetails(limit: RateLimit) {
  return { per_token: limit.perToken, per_tenant: limit.perTenant }
}

export function addressTaken(baseUrl: string): DomainError {
  return new DomainError('concurrent-modification', `Another tenant already uses ${baseUrl}. Use another address.`, {
    errors: [{ pointer: '/base_url', detail: 'is already in use' }],
  })
}
