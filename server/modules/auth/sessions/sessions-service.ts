import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Revocations, Sessions } from '../auth-types.ts'

export interface SessionsDeps {
  database: Database
  masterKey: Buffer
  keys: TokenKeys
  directory: TenantDirectory
  users: SignInUsers
  revocations: Revocations
  governance: GovernanceLog
}

export function createSessions(_deps: SessionsDeps): Sessions {
  return {
    open: async () => {
      throw new Error('not built yet')
    },
    firstToken: async (_tenant: Tenant) => {
      throw new Error('not built yet')
    },
    endAll: async () => {},
  }
}
