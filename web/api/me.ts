import { useQuery } from '@tanstack/react-query'
import { decodeJwt } from 'jose'
import { createContext, useContext } from 'react'
import type { OperationId } from '../../contract/operations.ts'
import { mayCall } from '../../contract/permissions.ts'
import { type Role, roleNames, roles } from '../../contract/roles.ts'
import { isScope, type Scope } from '../../contract/scopes.ts'
import { callAsTenant } from './api-client.ts'
import { accessToken, rememberTenant } from './session.ts'

/** Whoever is signed in, as the access token says. Name and address are asked for where they are shown (`getMe`). */
export interface Me {
  /** `usr_…`, as it stands in `created_by`. */
  subject: string
  tenant: string
  scopes: ReadonlySet<Scope>
  role: Role | undefined
  /** The API's own check: what it denies would be refused. */
  may(operationId: OperationId): boolean
}

const MeContext = createContext<Me | undefined>(undefined)
export const MeProvider = MeContext.Provider

/** Only below the layout, which waits until somebody is signed in. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('Nobody is signed in yet.')
  return me
}

/**
 * Who is signed in, before anything else is asked for. It costs no call beyond the token's own.
 *
 * @param enabled false for a page that needs nobody; otherwise it leads to the page `/sign-in` without a session
 */
export function useSignedIn(enabled: boolean) {
  return useQuery({
    queryKey: ['signed in'],
    enabled,
    staleTime: 30_000,
    structuralSharing: false,
    queryFn: async (): Promise<Me> => {
      const { sub = '', tenant, scope } = decodeJwt<{ tenant: string; scope: string }>(await accessToken())
      callAsTenant(tenant)
      rememberTenant(tenant)
      const scopes = new Set(scope.split(' ').filter(isScope))
      return { subject: sub, tenant, scopes, role: roleOf(scopes), may: (operationId) => mayCall(scopes, operationId) }
    },
  })
}

/** A person's scopes are those of their role (contract/roles.ts), so they name it. */
function roleOf(scopes: ReadonlySet<Scope>): Role | undefined {
  return roleNames.find((name) => roles[name].length === scopes.size && roles[name].every((scope) => scopes.has(scope)))
}
