import { DomainError } from '../../../../contract/domain-error.ts'
import { secretOverlapHours } from '../../../../contract/limits.ts'
import { isScope } from '../../../../contract/scopes.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import { type AccountFields, accountRows, type SecretFields } from '../../../db/proven-rows.ts'
import { rowDigests } from '../../../db/row-digests.ts'
import type { Tenant } from '../../../http/caller.ts'
import { openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import type { Actor, GovernanceLog } from '../../governance/governance-types.ts'
import type { TokenRevoker } from '../auth-types.ts'
import { changeOf, checkAccount } from './account-checks.ts'
import { toAccountResponse, toLimitsResponse } from './account-response.ts'
import type { ClientDirectory } from './client-directory.ts'
import { hashClientSecret, isClientId, makeClientId, makeClientSecret } from './client-secrets.ts'
import { insertSecret, outdateSecrets, secretsOf } from './client-secrets-store.ts'
import {
  type AccountRow,
  accountNamed,
  accountsAfter,
  deleteClientEntry,
  insertAccount,
  insertClientEntry,
  type LockedAccount,
  proveAccount,
  readAccount,
  readAccountToChange,
  updateAccount,
} from './service-accounts-store.ts'
import type {
  NewServiceAccount,
  RotatedSecret,
  ServiceAccount,
  ServiceAccountChanges,
  ServiceAccountCredentials,
  ServiceAccounts,
} from './service-accounts-types.ts'

const overlapMs = secretOverlapHours * 3_600_000

interface ServiceAccountsDeps {
  database: Database
  governance: GovernanceLog
  revocations: TokenRevoker
  clients: Pick<ClientDirectory, 'forget'>
  /** The key from `deriveKey(masterKey, 'service account secrets')`. */
  secretsKey: Buffer
  /** The key from `deriveKey(masterKey, cursorKeyPurpose)`. */
  cursorKey: Buffer
}

export class ServiceAccountAdministration implements ServiceAccounts {
  readonly #deps: ServiceAccountsDeps

  constructor(deps: ServiceAccountsDeps) {
    this.#deps = deps
  }

  async create(tenant: Tenant, account: NewServiceAccount, actor: Actor): Promise<ServiceAccountCredentials> {
    const now = formatTimestamp(Date.now())
    const { name, scopes, expires_at, allowed_addresses } = account
    const checked = checkAccount({ name, scopes, expires_at, allowed_addresses }, now)
    const clientId = makeClientId()
    const kept = { name, scopes: checked.scopes ?? [], ...toLimitsResponse(checked) }
    // The registry entry comes first: an entry without an account does nothing, but an account without an entry is
    // unusable.
    await this.#deps.database.withRegistry((tx) => insertClientEntry(tx, clientId, tenant.slug))
    try {
      const secret = await this.#deps.database.withTenant(tenant.slug, async (tx) => {
        const { expires_at: expiresAt = null, allowed_addresses: addresses = null } = checked
        const row = { expires_at: expiresAt, allowed_addresses: addresses, created_at: now }
        await insertAccount(tx, { client_id: clientId, name, scopes: kept.scopes, ...row })
        const { secret, proven } = await this.#addSecret(tx, clientId, now)
        await this.#note(tx, tenant, proven, { change: 'service_account_created', before: null, after: kept }, actor)
        return secret
      })
      return { client_id: clientId, client_secret: secret, tenant: tenant.slug, created_at: now, ...kept }
    } catch (error) {
      await this.#deps.database.withRegistry((tx) => deleteClientEntry(tx, clientId))
      throw error
    }
  }

  async list(
    tenant: Tenant,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): ReturnType<ServiceAccounts['list']> {
    const binding = { tenant: tenant.slug, operation: 'listServiceAccounts', query: {} }
    const after =
      cursor === undefined ? undefined : (openCursor(this.#deps.cursorKey, binding, cursor) as [string, string])
    const position = after && { createdAt: after[0], clientId: after[1] }
    const page = await readTenant(this.#deps.database, tenant.slug, async (tx) => {
      const rows = await accountsAfter(tx, position, limit + 1)
      const { shown, next_cursor } = pageOf(rows, limit, (last) =>
        signCursor(this.#deps.cursorKey, binding, [last.created_at, last.client_id]),
      )
      const ids = shown.map((row) => row.client_id)
      return { next_cursor, shown, secrets: ids.length > 0 ? await secretsOf(tx, ids) : [] }
    })
    const now = formatTimestamp(Date.now())
    return {
      items: page.shown.map((row) => toAccountResponse(row, page.secrets, now)),
      next_cursor: page.next_cursor,
    }
  }

  get(tenant: Tenant, clientId: string): Promise<ServiceAccount> {
    return readTenant(this.#deps.database, tenant.slug, async (tx) => {
      const row = isClientId(clientId) ? await readAccount(tx, clientId) : undefined
      return answer(tx, row ?? missing())
    })
  }

  update(tenant: Tenant, clientId: string, changes: ServiceAccountChanges, actor: Actor): Promise<ServiceAccount> {
    const now = formatTimestamp(Date.now())
    const wished = checkAccount(changes, now)
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const row = await enabledAccount(tx, clientId)
      const change = changeOf(row, wished)
      if (!change) return answer(tx, row)
      const epoch = change.narrows ? await this.#endTokens(tx, row) : row.epoch
      await updateAccount(tx, clientId, { ...change.set, epoch }, now)
      const proven = await proveAccount(tx, clientId, row.secrets)
      const { before, after } = change
      await this.#note(tx, tenant, proven, { change: 'service_account_changed', before, after }, actor, row)
      return answer(tx, { ...row, ...change.set })
    })
  }

  disable(tenant: Tenant, clientId: string, actor: Actor): Promise<ServiceAccount> {
    const now = formatTimestamp(Date.now())
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const row = await accountToChange(tx, clientId)
      if (row.disabled_at !== null) return answer(tx, row)
      await updateAccount(tx, clientId, { disabled_at: now, epoch: await this.#endTokens(tx, row) }, now)
      const proven = await proveAccount(tx, clientId, row.secrets)
      const [before, after] = [{ disabled_at: null }, { disabled_at: now }]
      await this.#note(tx, tenant, proven, { change: 'service_account_disabled', before, after }, actor)
      return answer(tx, { ...row, disabled_at: now })
    })
  }

  rotate(tenant: Tenant, clientId: string, actor: Actor): Promise<RotatedSecret> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const { secret, previousEnds } = await this.#rotate(tx, tenant, clientId, actor)
      return { client_id: clientId, client_secret: secret, previous_secret_expires_at: previousEnds }
    })
  }

  rotateSecret(tenant: Tenant, name: string, actor: Actor): Promise<ServiceAccountCredentials | undefined> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const clientId = await accountNamed(tx, name)
      if (clientId === undefined) return undefined
      const { row, secret } = await this.#rotate(tx, tenant, clientId, actor)
      const { created_at, scopes } = row
      const made = { client_id: clientId, client_secret: secret, name, tenant: tenant.slug, created_at }
      return { ...made, scopes: scopes.filter(isScope), ...toLimitsResponse(row) }
    })
  }

  /**
   * Writes the governance event of a change.
   *
   * @param account the fields proven after the change
   * @param former the fields before the change, for a change that grants access
   */
  #note(
    tx: TenantTx,
    tenant: Tenant,
    account: AccountFields,
    change: Record<string, JsonValue>,
    actor: Actor,
    former?: LockedAccount,
  ) {
    const subject = accountRows.subject(account, tenant.slug)
    const details = {
      ...change,
      row_digests: rowDigests(tx, accountRows, account),
      ...(former && { former_row_digests: rowDigests(tx, accountRows, former) }),
    }
    return this.#deps.governance.append(tx, tenant, { kind: 'tenant.config_changed', subject, details, actor })
  }

  /** Rejects tokens issued so far from the commit on. Returns the epoch of later tokens. */
  async #endTokens(tx: TenantTx, row: AccountRow): Promise<number> {
    const epoch = row.epoch + 1
    await this.#deps.revocations.revoke(tx, `client:${row.client_id}`, epoch)
    tx.afterCommit(() => this.#deps.clients.forget(row.client_id))
    return epoch
  }

  /** Adds a secret to the valid ones, and proves the account with all of them. */
  async #addSecret(tx: TenantTx, clientId: string, now: string, others: SecretFields[] = []) {
    const secret = makeClientSecret()
    const hash = hashClientSecret(this.#deps.secretsKey, clientId, secret)
    await insertSecret(tx, clientId, hash, now)
    const proven = await proveAccount(tx, clientId, [...others, { hash: hash.toString('hex'), until: null }])
    return { secret, proven }
  }

  async #rotate(tx: TenantTx, tenant: Tenant, clientId: string, actor: Actor) {
    const row = await enabledAccount(tx, clientId)
    tx.afterCommit(() => this.#deps.clients.forget(clientId))
    const nowMs = Date.now()
    const { ends: previousEnds, hash } = await outdateSecrets(tx, clientId, formatTimestamp(nowMs + overlapMs))
    const former = row.secrets.filter((each) => each.hash === hash)
    const others = former.map((each) => ({ ...each, until: Date.parse(previousEnds) }))
    const { secret, proven } = await this.#addSecret(tx, clientId, formatTimestamp(nowMs), others)
    const details = { change: 'service_account_secret_rotated', after: { previous_secret_expires_at: previousEnds } }
    await this.#note(tx, tenant, proven, details, actor, row)
    return { row, secret, previousEnds }
  }
}

async function answer(tx: TenantTx, row: AccountRow) {
  return toAccountResponse(row, await secretsOf(tx, [row.client_id]), formatTimestamp(Date.now()))
}

async function accountToChange(tx: TenantTx, clientId: string): Promise<LockedAccount> {
  const row = isClientId(clientId) ? await readAccountToChange(tx, clientId) : undefined
  return row ?? missing()
}

async function enabledAccount(tx: TenantTx, clientId: string): Promise<LockedAccount> {
  const row = await accountToChange(tx, clientId)
  if (row.disabled_at === null) return row
  throw new DomainError('concurrent-modification', 'The service account is permanently disabled. Create another one.')
}

function missing(): never {
  throw new DomainError('not-found', 'The tenant has no service account with this client id.')
}
