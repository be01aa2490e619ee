import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { isScope, type Scope, scopeNames } from '../../../../contract/scopes.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database } from '../../../db/database.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { NewServiceAccount, ServiceAccounts } from '../auth-types.ts'
import { hashClientSecret, makeClientId, makeClientSecret } from './client-secrets.ts'
import {
  accountNamed,
  insertAccount,
  insertSecret,
  listClient,
  outdateSecrets,
  unlistClient,
} from './service-accounts-store.ts'

const nameLengthMax = 100
const secretOverlapHours = 24

export function createServiceAccounts(deps: {
  database: Database
  governance: GovernanceLog
  /** Of `deriveKey(masterKey, 'service account secrets')`. */
  secretsKey: Buffer
}): ServiceAccounts {
  const { database, governance, secretsKey } = deps
  return {
    async create(tenant, account, actor) {
      const scopes = checkAccount(account)
      const clientId = makeClientId()
      const clientSecret = makeClientSecret()
      const now = formatTimestamp(Date.now())
      // First: an entry without an account does nothing, but an account without an entry could never be used.
      await database.withRegistry((tx) => listClient(tx, clientId, tenant.slug))
      try {
        await database.withTenant(tenant.slug, async (tx) => {
          await insertAccount(tx, { clientId, name: account.name, scopes, now })
          await insertSecret(tx, clientId, hashClientSecret(secretsKey, clientId, clientSecret), now)
          await governance.append(tx, tenant, {
            kind: 'tenant.config_changed',
            subject: `service_account:${clientId}`,
            details: { change: 'service_account_created', after: { name: account.name, scopes } },
            actor,
          })
        })
      } catch (error) {
        await database.withRegistry((tx) => unlistClient(tx, clientId))
        throw error
      }
      return { client_id: clientId, client_secret: clientSecret, name: account.name, tenant: tenant.slug, scopes }
    },

    rotateSecret(tenant, name, actor) {
      return database.withTenant(tenant.slug, async (tx) => {
        const account = await accountNamed(tx, name)
        if (!account) return undefined
        const clientId = account.client_id
        const clientSecret = makeClientSecret()
        const nowMs = Date.now()
        await outdateSecrets(tx, clientId, formatTimestamp(nowMs + secretOverlapHours * 3_600_000))
        const secretHash = hashClientSecret(secretsKey, clientId, clientSecret)
        await insertSecret(tx, clientId, secretHash, formatTimestamp(nowMs))
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `service_account:${clientId}`,
          details: { change: 'service_account_secret_rotated' },
          actor,
        })
        const scopes = account.scopes.filter(isScope)
        return { client_id: clientId, client_secret: clientSecret, name, tenant: tenant.slug, scopes }
      })
    },
  }
}

/** The scopes, each once, in the order given. */
function checkAccount({ name, scopes }: NewServiceAccount): Scope[] {
  const errors: PointedError[] = []
  if (name.trim() !== name || name.length < 1 || name.length > nameLengthMax || /\p{Cc}/u.test(name)) {
    errors.push({
      pointer: '/name',
      detail: `must be 1 to ${nameLengthMax} characters without line breaks or spaces at its ends`,
    })
  }
  const unknown = scopes.filter((scope) => !isScope(scope))
  if (unknown.length > 0) {
    const names = unknown.map((scope) => JSON.stringify(scope)).join(', ')
    errors.push({ pointer: '/scopes', detail: `has ${names}; the scopes are ${scopeNames.join(' ')}` })
  } else if (scopes.length === 0) {
    errors.push({ pointer: '/scopes', detail: `is empty; the scopes are ${scopeNames.join(' ')}` })
  }
  if (errors.length > 0) throw validationFailed(errors)
  return [...new Set(scopes.filter(isScope))]
}
