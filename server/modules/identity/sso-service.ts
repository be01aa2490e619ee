import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import type { GovernanceKind } from '../../../contract/governance-kinds.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import { ssoRows } from '../../db/proven-rows.ts'
import { rowDigests } from '../../db/row-digests.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { constantTimeEqual } from '../../secrets/constant-time-equal.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { ConnectionSecrets } from './connection-secrets.ts'
import { checkAddresses, discover, problemOfIssuer } from './discovery.ts'
import { readDomain } from './email-domains.ts'
import { ProviderError } from './provider-metadata.ts'
import type { SsoConfiguration, SsoResponse } from './sso-schemas.ts'
import * as store from './sso-store.ts'

export type SsoSettings = Static<typeof SsoConfiguration>

export type SsoState = Static<typeof SsoResponse>

export type SsoService = ReturnType<typeof createSsoService>

/** Manages the connection of a tenant to its identity provider. */
export function createSsoService(
  deps: Pick<ModuleParts, 'database' | 'governance'> & {
    outbound: Outbound
    secrets: ConnectionSecrets
  },
) {
  const { database, governance, outbound, secrets } = deps

  async function keep(tx: TenantTx, tenant: Tenant, settings: SsoSettings, actor: Actor) {
    await store.lockSso(tx)
    const current = await store.currentConnection(tx)
    const replaced = current ?? (await store.storedConnection(tx))
    const append = (kind: GovernanceKind, connectionId: string, details: Record<string, JsonValue>) =>
      governance.append(tx, tenant, { kind, subject: `connection:${connectionId}`, details, actor })

    if (current?.issuer !== settings.issuer || current.client_id !== settings.client_id) {
      const made = await makeConnection(tx, secrets, tenant, settings, replaced?.connection_id)
      await append('connector.added', made.connection_id, {
        kind: 'scim_idp',
        ...describe(made),
        ...(replaced && { replaces: replaced.connection_id }),
        row_digests: rowDigests(tx, ssoRows, made),
      })
      return made
    }

    const secretChanged = !constantTimeEqual(secrets.unseal(current, tenant), settings.client_secret)
    const before = current.allowed_email_domains
    if (!secretChanged && before.join() === settings.allowed_email_domains.join()) return current
    const changed = await store.changeConnection(tx, {
      ...current,
      client_secret_sealed: secretChanged
        ? secrets.encrypt(settings.client_secret, tenant, current.connection_id)
        : current.client_secret_sealed,
      allowed_email_domains: settings.allowed_email_domains,
      updated_at: formatTimestamp(Date.now()),
    })
    await append('tenant.config_changed', current.connection_id, {
      change: 'sso',
      before: describe(current),
      after: describe(changed),
      client_secret_changed: secretChanged,
      row_digests: rowDigests(tx, ssoRows, changed),
      former_row_digests: rowDigests(tx, ssoRows, current),
    })
    return changed
  }

  /** Returns the problems of settings that are visible without a request to the provider. */
  function problemsIn({ issuer, allowed_email_domains: domains = [] }: ValidParts<SsoSettings>): PointedError[] {
    const problem = issuer === undefined ? undefined : problemOfIssuer(issuer, outbound)
    return [...(problem === undefined ? [] : [{ pointer: '/issuer', detail: problem }]), ...problemsOfDomains(domains)]
  }

  return {
    problemsIn,
    /**
     * Stores the connection after fetching the provider's configuration. Repeating it changes nothing and writes no
     * event. Throws `validation-failed` with the fetched address and the problem.
     */
    async configure(tenant: Tenant, settings: SsoSettings, actor: Actor): Promise<SsoState> {
      const problems = problemsIn(settings)
      if (problems.length > 0) throw validationFailed(problems)
      const checked = { ...settings, allowed_email_domains: readDomains(settings.allowed_email_domains) }
      await askProvider(checked.issuer, outbound)
      return stateOf(tenant, await database.withTenant(tenant.slug, (tx) => keep(tx, tenant, checked, actor)))
    },
    /** Returns the connection. Throws `not-found` without one. */
    async get(tenant: Tenant): Promise<SsoState> {
      return stateOf(tenant, await readTenant(database, tenant.slug, configuredSso))
    },
    /**
     * Ends sign-in by the provider. People stay, and running sessions last until their end, at most 8 hours. Does
     * nothing without a connection.
     */
    remove: (tenant: Tenant, actor: Actor): Promise<void> =>
      database.withTenant(tenant.slug, async (tx) => {
        await store.lockSso(tx)
        const row = await store.storedConnection(tx)
        if (!row) return
        await store.replaceConnection(tx, row.connection_id, formatTimestamp(Date.now()))
        const row_digests = rowDigests(tx, ssoRows, null)
        await governance.append(tx, tenant, {
          kind: 'tenant.config_changed',
          subject: `connection:${row.connection_id}`,
          details: { change: 'sso_removed', before: describe(row), after: null, row_digests },
          actor,
        })
      }),
  }
}

async function makeConnection(
  tx: TenantTx,
  secrets: ConnectionSecrets,
  tenant: Tenant,
  settings: SsoSettings,
  replaced: string | undefined,
) {
  const now = formatTimestamp(Date.now())
  if (replaced !== undefined) await store.replaceConnection(tx, replaced, now)
  const connectionId = `sso_${randomText(24)}`
  return store.addConnection(tx, {
    connection_id: connectionId,
    issuer: settings.issuer,
    client_id: settings.client_id,
    client_secret_sealed: secrets.encrypt(settings.client_secret, tenant, connectionId),
    allowed_email_domains: settings.allowed_email_domains,
    updated_at: now,
  })
}

/** Returns the connection. Throws `not-found` without one. */
export async function configuredSso(tx: TenantTx): Promise<store.ConnectionRow> {
  const row = await store.currentConnection(tx)
  if (row) return row
  const hint = 'Configure it with POST /api/v1/identity/sso/configure.'
  throw new DomainError('not-found', `This tenant has no single sign-on. ${hint}`)
}

async function askProvider(issuer: string, outbound: Outbound): Promise<void> {
  try {
    await checkAddresses(await discover(issuer, outbound), outbound)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw validationFailed([{ pointer: '/issuer', detail: `cannot be used. ${error.message}` }])
  }
}

function problemsOfDomains(texts: readonly (string | undefined)[]): PointedError[] {
  return texts.flatMap((text, index) => {
    if (text === undefined || readDomain(text) !== undefined) return []
    const detail = `is ${JSON.stringify(text)}; it must be a domain such as acme.example`
    return [{ pointer: `/allowed_email_domains/${index}`, detail }]
  })
}

/** Returns domains in comparison form, sorted, without duplicates. */
function readDomains(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => readDomain(text) ?? ''))].sort()
}

function describe(row: store.ConnectionRow) {
  const { connection_id, issuer, client_id, allowed_email_domains } = row
  return { connection_id, issuer, client_id, allowed_email_domains }
}

function stateOf(tenant: Tenant, row: store.ConnectionRow): SsoState {
  return { ...describe(row), redirect_uri: `${tenant.baseUrl}/api/v1/auth/callback`, updated_at: row.updated_at }
}
