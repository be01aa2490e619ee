import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import { exportQuotaMax } from '../../../contract/limits.ts'
import { patterns, type TenantMode } from '../../../contract/literals.ts'
import type { Database } from '../../db/database.ts'
import { readTenantHost, type TenantHostPolicy } from './tenant-host-policy.ts'
import { limitMax } from './tenant-schemas.ts'
import { provenEntry, type TenantRow, tenantBySlug } from './tenants-store.ts'
import type { TenantChanges } from './tenants-types.ts'

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

/**
 * Validates changes as far as the request alone permits; the command line has no schema that checks their numbers.
 * Returns the changes with the normalized address.
 */
export function checkChanges(mode: TenantMode, changes: TenantChanges, policy: TenantHostPolicy): TenantChanges {
  const errors: PointedError[] = []
  const { admin_email: adminEmail, base_url: address, limits = {} } = changes
  const { exports_per_day, mb_kept } = changes.export_quota ?? {}
  if (adminEmail !== undefined && !isEmail(adminEmail)) {
    errors.push({ pointer: '/admin_email', detail: 'must be an e-mail address' })
  }
  const read = address == null ? undefined : readTenantHost(address, mode, policy)
  if (read && 'problem' in read) errors.push({ pointer: '/base_url', detail: read.problem })
  for (const [name, limit] of Object.entries(limits)) {
    errors.push(...numberProblems(`/limits/${name}`, limit ?? {}, limitMax, 'requests per minute, '))
  }
  errors.push(...numberProblems('/export_quota', { exports_per_day }, exportQuotaMax.perDay))
  errors.push(...numberProblems('/export_quota', { mb_kept }, exportQuotaMax.mbKept))
  if (errors.length > 0) throw validationFailed(errors)
  return read && 'address' in read ? { ...changes, base_url: read.address } : changes
}

/** Returns a problem for each value that is set and is not a whole number from 1 to the maximum. */
function numberProblems(
  pointer: string,
  values: Record<string, number | null | undefined>,
  maximum: number,
  unit = '',
): PointedError[] {
  return Object.entries(values)
    .filter(([, value]) => value != null && !(Number.isInteger(value) && value >= 1 && value <= maximum))
    .map(([name]) => ({ pointer: `${pointer}/${name}`, detail: `must be a whole number of ${unit}1 to ${maximum}` }))
}

export function addressTaken(baseUrl: string): DomainError {
  return new DomainError('concurrent-modification', `Another tenant already uses ${baseUrl}. Use another address.`, {
    errors: [{ pointer: '/base_url', detail: 'is already in use' }],
  })
}
