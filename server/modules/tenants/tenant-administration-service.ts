import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import { patterns } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { ProvenanceKeyMaker } from '../keys/keys-types.ts'
import type { IssuedLink, SignInLinks } from '../links/links-types.ts'
import { addressTaken, provenTenant } from './tenant-checks.ts'
import { asTenant } from './tenant-directory.ts'
import { readTenantHost, type TenantHostPolicy } from './tenant-host-policy.ts'
import {
  adminEmailOf,
  hasTenants,
  insertTenant,
  lockSettings,
  putSettings,
  tenantByBaseUrl,
  tenantBySlug,
} from './tenants-store.ts'
import type { CreatedTenant, NewTenant } from './tenants-types.ts'

interface Deps extends TenantHostPolicy, Pick<ModuleParts, 'database' | 'governance'> {
  keys: ProvenanceKeyMaker
  links: SignInLinks
}

export type TenantAdministration = ReturnType<typeof createTenantAdministration>

/**
 * Creates the service that creates tenants and their welcome links for operators. All members throw DomainError; a
 * pointer names the field.
 */
export function createTenantAdministration(deps: Deps) {
  const { database, governance, links } = deps

  /**
   * Creates the tenant with its settings, keys and log, and the welcome link of its administrator. It becomes visible
   * in the last step, so repeating the call completes an attempt that crashed. Throws `concurrent-modification` if the
   * tenant or its address exists.
   */
  async function create(wanted: NewTenant, actor: Actor): Promise<CreatedTenant> {
    const problems = problemsOf(wanted, deps)
    if (problems.length > 0) throw validationFailed(problems)
    const baseUrl = ownAddress(wanted, deps)
    await database.withRegistry(async (tx) => {
      if (await tenantBySlug(tx, wanted.slug)) throw slugTaken(wanted.slug)
      if (baseUrl && (await tenantByBaseUrl(tx, baseUrl))) throw addressTaken(baseUrl)
    })
    const now = formatTimestamp(Date.now())
    const key = await database.withTenant(wanted.slug, async (tx) => {
      const { adminEmail, displayName } = wanted
      await putSettings(tx, { adminEmail, displayName: displayName ?? wanted.slug, now })
      return deps.keys.ensureKey(tx)
    })
    const row = {
      slug: wanted.slug,
      mode: wanted.mode,
      base_url: baseUrl ?? null,
      log_name: key.name,
      suspended_at: null,
    }
    const tenant = asTenant(row, deps.baseUrl())
    const welcome = await announce(tenant, wanted.adminEmail, actor)
    // Last, because it makes the tenant visible, and all of it must exist by then.
    await database.withRegistry(async (tx) => {
      await deps.keys.publish(tx, key)
      if (!(await insertTenant(tx, { ...row, created_at: now }))) throw slugTaken(wanted.slug)
    })
    return { tenant, adminEmail: wanted.adminEmail, welcome }
  }

  /**
   * Writes the event and the first link in one transaction, so the link shows whether a crashed attempt came this far.
   */
  function announce(tenant: Tenant, adminEmail: string, actor: Actor): Promise<IssuedLink> {
    return database.withTenant(tenant.slug, async (tx) => {
      await lockSettings(tx)
      if (!(await links.hasWelcomeLink(tx))) {
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `tenant:${tenant.slug}`,
          details: { change: 'created', after: { mode: tenant.mode, base_url: tenant.baseUrl } },
          actor,
        })
      }
      return links.issue(tx, tenant, adminEmail, 'welcome')
    })
  }

  return {
    /** Returns the problems of a new tenant, regardless of existing tenants. */
    problemsIn: (wanted: ValidParts<NewTenant>) => problemsOf(wanted, deps),
    create,
    /** Creates a tenant on a service without tenants; returns undefined if one exists. */
    async createFirst(wanted: NewTenant, actor: Actor): Promise<CreatedTenant | undefined> {
      if (await database.withRegistry(hasTenants)) return undefined
      return create(wanted, actor).catch((error: unknown) => {
        // Another process that starts at the same time was faster.
        if (error instanceof DomainError && error.slug === 'concurrent-modification') return undefined
        throw error
      })
    },
    /** Issues a further welcome link for the administrator. Earlier ones stay valid. */
    async welcomeLink(slug: string, actor: Actor = { operator: 'command-line' }): Promise<CreatedTenant> {
      const tenant = asTenant(await provenTenant(database, slug), deps.baseUrl())
      return database.withTenant(slug, async (tx) => {
        const adminEmail = await adminEmailOf(tx)
        if (adminEmail === undefined) {
          const detail = `The administrator's address of tenant ${slug} was changed outside of the Hub. Set it again first.`
          throw new DomainError('concurrent-modification', detail)
        }
        const welcome = await links.issue(tx, tenant, adminEmail, 'welcome')
        // Recorded, because the bearer of the link signs in as the administrator.
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `tenant:${slug}`,
          details: { change: 'welcome_link', after: { expires_at: welcome.expiresAt } },
          actor,
        })
        return { tenant, adminEmail, welcome }
      })
    },
  }
}

function problemsOf(wanted: ValidParts<NewTenant>, rule: TenantHostPolicy): PointedError[] {
  const errors: PointedError[] = []
  const { slug, mode, adminEmail, baseUrl } = wanted
  if (slug !== undefined && !new RegExp(patterns.tenantSlug).test(slug)) {
    errors.push({
      pointer: '/slug',
      detail: 'must be 2 to 63 characters: a lower-case letter, then lower-case letters, digits and hyphens',
    })
  }
  if (adminEmail !== undefined && !isEmail(adminEmail)) {
    errors.push({ pointer: '/admin_email', detail: 'must be an e-mail address' })
  }
  // Validates the form of the address even without a valid mode.
  const read = baseUrl === undefined ? undefined : readTenantHost(baseUrl, mode ?? 'C', rule)
  if (read && 'problem' in read) errors.push({ pointer: '/base_url', detail: read.problem })
  return errors
}

/** Returns the tenant's own address, normalized; undefined if it has none. */
function ownAddress({ baseUrl, mode }: NewTenant, rule: TenantHostPolicy): string | undefined {
  const read = baseUrl === undefined ? undefined : readTenantHost(baseUrl, mode, rule)
  return read && 'address' in read ? read.address : undefined
}

function slugTaken(slug: string): DomainError {
  return new DomainError(
    'concurrent-modification',
    `The tenant ${slug} already exists. For a new welcome link: POST /api/v1/operator/tenants/${slug}:welcome-link, or npm run hub -- tenant welcome-link ${slug}`,
    { errors: [{ pointer: '/slug', detail: 'is already in use' }] },
  )
}
