import type { TenantTx } from '../../../db/database.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { User } from '../../roster/roster-types.ts'

/**
 * Returns whether the person may sign in by a mailed link. An identity provider of the tenant controls access, with
 * second factors and the company's joiners and leavers; a link would bypass it. Administrators may still use links,
 * since somebody must be able to repair a broken provider or configuration.
 */
export async function allowsMagicLink(
  tx: TenantTx,
  user: Pick<User, 'active' | 'role'>,
  providers: IdentityProviders,
): Promise<boolean> {
  if (!user.active) return false
  return user.role === 'admin' || !(await providers.isConfigured(tx))
}
