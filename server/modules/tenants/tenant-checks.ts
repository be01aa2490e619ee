import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { patterns } from '../../../contract/literals.ts'
import type { Database } from '../../db/database.ts'
import { type TenantRow, tenantBySlug } from './tenants-store.ts'
import type { RateLimit } from './tenants-types.ts'

export const limitMax = 1_000_000_000
const slugPattern = new RegExp(patterns.tenantSlug)

/** Throws `not-found` when there is no such tenant. */
export async function existingTenant(database: Pick<Database, 'withRegistry'>, slug: string): Promise<TenantRow> {
  const row = slugPattern.test(slug) ? await database.withRegistry((tx) => tenantBySlug(tx, slug)) : undefined
  if (row) return row
  throw new DomainError(
    'not-found',
    `There is no tenant ${JSON.stringify(slug)}. Make it with: POST /api/v1/operator/tenants, or npm run hub -- tenant create ${slug}`,
  )
}

/** @param pointer of the limit, in the body that gave it */
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

/** In the names of answers and events. */
export function limitDetails(limit: RateLimit) {
  return { per_token: limit.perToken, per_tenant: limit.perTenant }
}

export function addressTaken(baseUrl: string): DomainError {
  return new DomainError('concurrent-modification', `Another tenant is served at ${baseUrl}. Use another address.`, {
    errors: [{ pointer: '/base_url', detail: 'is taken' }],
  })
}
