import type { TenantTx } from '../../../db/database.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { User } from '../../roster/roster-types.ts'

/**
 * Whether the person may sign in by a mailed link. Where the tenant has an identity provider, that decides who comes
 * in, with the second factors and the joiners and leavers of the company, and a link would be a way around it. It stays
 * open to administrators: when the provider or its configuration is broken, somebody must be able to mend it.
 */
export async function allowsMagicLink(
  tx: TenantTx,
  user: Pick<User, 'active' | 'role'>,
  providers: IdentityProviders,
): Promise<boolean> {
  if (!user.active) return false
  return user.role === 'admin' || !(await providers.isConfigured(tx))
}
