import type { Database, TenantTx } from '../../../db/database.ts'
import type { TokenRevoker } from '../../auth/auth-types.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { SignInUsers } from '../roster-types.ts'

export interface UsersDeps {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  revoker: TokenRevoker
  /** Ends every session of a person who may no longer have one. */
  endSessions: (tx: TenantTx, userId: string) => Promise<void>
  /** Whom the tenant was created for. */
  adminEmail: (tx: TenantTx) => Promise<string | undefined>
}

export function createSignInUsers(_deps: UsersDeps): SignInUsers {
  const missing = async () => {
    throw new Error('not built yet')
  }
  return { ofIdentity: missing, ensure: missing, ofEmail: missing, byId: missing, noteSignIn: missing }
}
