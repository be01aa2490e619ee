import { DomainError } from '../../../../contract/domain-error.ts'
import { type Role, roles } from '../../../../contract/roles.ts'
import { type Scope, scopeNames } from '../../../../contract/scopes.ts'
import type { Caller } from '../../../http/caller.ts'

/**
 * Requires that the caller holds every scope it grants or revokes. Otherwise a service account for the roster could
 * make itself an administrator, or lock all of them out. Throws `insufficient-scope`.
 */
export function requireScopesOf(caller: Pick<Caller, 'scopes'>, ...changed: Role[]): void {
  const needed = new Set<Scope>(['roster:write', ...changed.flatMap((role) => roles[role])])
  const required = scopeNames.filter((scope) => needed.has(scope))
  const missing = required.filter((scope) => !caller.scopes.has(scope))
  if (missing.length === 0) return
  const names = [...new Set(changed)].join(' and ')
  throw new DomainError(
    'insufficient-scope',
    `Nobody gives or takes what they do not hold: this needs every scope of the role ${names}. ` +
      `The token lacks ${missing.join(' ')}.`,
    { extensions: { required_scopes: required } },
  )
}
