import { useQuery } from '@tanstack/react-query'
import { decodeJwt } from 'jose'
import { createContext, useContext } from 'react'
import type { OperationId } from '../../contract/operations.ts'
import { mayCall } from '../../contract/permissions.ts'
import { type Role, roleNames, roles } from '../../contract/roles.ts'
import { isScope, type Scope } from '../../contract/scopes.ts'
import { callAsTenant } from './api-client.ts'
import { accessToken, rememberTenant } from './session.ts'

/** The signed-in user, from the access token. Pages that show name and address request them (`getMe`). */
export interface Me {
  /** The user id `usr_…`, as in `created_by`. */
  subject: string
  tenant: string
  scopes: ReadonlySet<Scope>
  role: Role | undefined
  /** Returns true if the API would permit the operation; it makes the same check. */
  may(operationId: OperationId): boolean
}

const MeContext = createContext<Me | undefined>(undefined)
export const MeProvider = MeContext.Provider

/** Returns the signed-in user. Use it only below the layout, which waits for authentication. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('Nobody is signed in yet.')
  return me
}

/**
 * Returns the signed-in user, before any other request. It costs no call beyond the token's own.
 *
 * @param enabled false for a page without authentication; otherwise the user is sent to `/sign-in` without a session
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

/** Returns the role that has exactly these scopes (contract/roles.ts). */
function roleOf(scopes: ReadonlySet<Scope>): Role | undefined {
  return roleNames.find((name) => roles[name].length === scopes.size && roles[name].every((scope) => scopes.has(scope)))
}
