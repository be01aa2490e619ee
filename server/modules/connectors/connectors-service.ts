import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import type { GovernanceKind } from '../../../contract/governance-kinds.ts'
import { connectorsMax } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { constantTimeEqual } from '../../secrets/constant-time-equal.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { RedactedUrl } from '../../secrets/redacted-url.ts'
import type { Deliveries } from '../distribution/distribution-types.ts'
import type { InboundSecrets, RotatedInboundSecret } from '../inbound/inbound-types.ts'
import {
  type CredentialVault,
  noCredentials,
  originOf,
  type StoredCredentials,
  textOf,
} from './connector-credentials.ts'
import { toConnectorResponse } from './connector-response.ts'
import {
  checkSettings,
  columnsOf,
  describeSettings,
  furtherProblems,
  requireOwnCredentials,
  settingsOf,
  type WholeSettings,
} from './connector-settings.ts'
import * as store from './connectors-store.ts'
import type { ConnectorChanges, ConnectorResponse, ConnectorSettings, Credentials } from './connectors-types.ts'

interface ConnectorAdministrationDeps extends Pick<ModuleParts, 'database' | 'governance' | 'cursorKey'> {
  outbound: Outbound
  vault: CredentialVault
  inboundSecrets: InboundSecrets
  deliveries: Deliveries
  describeUrl: (tenantId: string, url: string) => RedactedUrl
}

/** Manages connectors. Methods about one connector throw `not-found` if it does not exist or was removed. */
export class ConnectorAdministration {
  readonly #deps: ConnectorAdministrationDeps

  constructor(deps: ConnectorAdministrationDeps) {
    this.#deps = deps
  }

  /**
   * Returns further problems of a {@link create} body that already failed validation. A valid body is checked together
   * with the stored settings.
   */
  furtherProblems(sound: ValidParts<ConnectorSettings>, body: ValidParts<ConnectorSettings>): PointedError[] {
    return furtherProblems(sound, body, this.#deps.outbound)
  }

  /**
   * Connects a platform; the response contains the secret for inbound messages. An existing connector of the same
   * platform and display name gets these settings; without a difference nothing changes and no event is written.
   */
  create(caller: Caller, settings: ConnectorSettings): Promise<ConnectorResponse> {
    const { outbound, inboundSecrets } = this.#deps
    return this.#locked(caller, async (tx) => {
      const known = await store.connectorNamed(tx, settings.platform, settings.display_name)
      if (known) {
        const { platform: _, ...changes } = settings
        await this.#change(tx, caller, known, changes)
        return this.#answer(tx, caller.tenant, known.connector_id)
      }
      const { credentials = {} } = settings
      const connectorId = await this.#add(tx, caller, checkSettings({ ...settings, credentials }, outbound))
      const secret = await inboundSecrets.make(tx, caller.tenant, connectorId, 'connector')
      const answer = await this.#answer(tx, caller.tenant, connectorId)
      return { ...answer, inbound: { connection_id: connectorId, secret } }
    })
  }

  async list(tenant: Tenant, asked: PageRequest) {
    const { database, cursorKey } = this.#deps
    const binding = { tenant: tenant.slug, operation: 'listConnectors', query: {} }
    const page = openPage<store.ConnectorPosition>(cursorKey, binding, asked)
    return readTenant(
      database,
      tenant.slug,
      async (tx) => {
        const rows = await store.connectorsAfter(tx, page.after, page.count)
        const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.connector_id])
        const items: ConnectorResponse[] = []
        for (const row of shown) items.push(await this.#toResponse(tx, tenant, row))
        return { items, next_cursor }
      },
      { inIndexOrder: true },
    )
  }

  get(tenant: Tenant, connectorId: string): Promise<ConnectorResponse> {
    return readTenant(this.#deps.database, tenant.slug, (tx) => this.#answer(tx, tenant, connectorId))
  }

  /** Updates a connector. Throws `concurrent-modification` if another connector of the platform has the name. */
  update(caller: Caller, connectorId: string, changes: ConnectorChanges): Promise<ConnectorResponse> {
    return this.#locked(caller, async (tx) => {
      const row = await existing(tx, connectorId)
      const { display_name: name = row.display_name } = changes
      if (name !== row.display_name && (await store.connectorNamed(tx, row.platform, name))) {
        throw nameTaken(row.platform)
      }
      await this.#change(tx, caller, row, changes)
      return this.#answer(tx, caller.tenant, connectorId)
    })
  }

  /** Removes a connector. Repeating it returns the same response. */
  remove(caller: Caller, connectorId: string): Promise<{ connector_id: string; removed_at: string }> {
    return this.#locked(caller, async (tx) => {
      const row = await store.connectorById(tx, connectorId)
      if (!row) throw notFound()
      if (row.removed_at !== null) return { connector_id: connectorId, removed_at: row.removed_at }
      const now = formatTimestamp(Date.now())
      await store.setRemoved(tx, connectorId, now)
      await this.#deps.deliveries.end(tx, connectorId)
      await this.#deps.inboundSecrets.remove(tx, connectorId)
      const { credentials: _, ...before } = this.#described(tx, settingsOf(row, {}))
      await this.#record(tx, caller, connectorId, { change: 'connector_removed', before, after: null })
      return { connector_id: connectorId, removed_at: now }
    })
  }

  /** Replaces all credentials. */
  rotate(caller: Caller, connectorId: string, credentials: Credentials): Promise<ConnectorResponse> {
    return this.#locked(caller, async (tx) => {
      const row = await existing(tx, connectorId)
      await this.#change(tx, caller, row, { credentials }, 'connector_credentials_rotated')
      return this.#answer(tx, caller.tenant, connectorId)
    })
  }

  /** Rotates the secret for inbound messages. */
  rotateInboundSecret(caller: Caller, connectorId: string): Promise<RotatedInboundSecret> {
    return this.#locked(caller, async (tx) => {
      await existing(tx, connectorId)
      const rotated = await this.#deps.inboundSecrets.rotate(tx, caller.tenant, connectorId, 'connector')
      const { former_secret_until: until } = rotated
      const after = { ...(until !== undefined && { former_secret_until: until }) }
      await this.#record(tx, caller, connectorId, { change: 'connector_inbound_secret_rotated', after })
      return rotated
    })
  }

  async #add(tx: TenantTx, caller: Caller, settings: WholeSettings): Promise<string> {
    if ((await store.countConnectors(tx)) >= connectorsMax) {
      const detail = `exceeds the ${connectorsMax} connectors of a tenant; remove one first`
      throw validationFailed([{ pointer: '', detail }])
    }
    const connectorId = `con_${randomText(24)}`
    const now = formatTimestamp(Date.now())
    await store.addConnector(tx, {
      connector_id: connectorId,
      ...columnsOf(settings),
      platform: settings.platform,
      credentials_sealed: await this.#deps.vault.encrypt(tx, caller.tenant, connectorId, keptOf(settings)),
      created_at: now,
      created_by: caller.subject,
      updated_at: now,
    })
    await this.#deps.deliveries.begin(tx, connectorId)
    const details = { kind: 'llm', connector_id: connectorId, ...this.#described(tx, settings) }
    await this.#record(tx, caller, connectorId, details, 'connector.added')
    return connectorId
  }

  async #change(
    tx: TenantTx,
    caller: Caller,
    row: store.ConnectorRow,
    changes: ConnectorChanges,
    name = 'connector',
  ): Promise<void> {
    const { vault, deliveries } = this.#deps
    const stored = await vault.read(tx, caller.tenant, row)
    const kept = stored ?? noCredentials
    const before = settingsOf(row, kept.credentials)
    const after = this.#changed(before, kept, changes)
    const keptAfter = changes.credentials === undefined ? kept : keptOf(after)
    // Replacing destroyed credentials counts as a change.
    const replacesLost = stored === undefined && changes.credentials !== undefined
    const credentialsChanged = replacesLost || !constantTimeEqual(textOf(kept), textOf(keptAfter))
    const [was, is] = [this.#described(tx, before), this.#described(tx, after)]
    const otherReceiver = credentialsChanged || before.publish_url !== after.publish_url
    if (!otherReceiver && JSON.stringify(was) === JSON.stringify(is)) return
    await store.changeConnector(tx, {
      connector_id: row.connector_id,
      ...columnsOf(after),
      credentials_sealed: credentialsChanged
        ? await vault.encrypt(tx, caller.tenant, row.connector_id, keptAfter)
        : row.credentials_sealed,
      updated_at: formatTimestamp(Date.now()),
    })
    await deliveries.renew(tx, row.connector_id, { otherReceiver })
    const details = { change: name, before: was, after: is, credentials_changed: credentialsChanged }
    await this.#record(tx, caller, row.connector_id, details)
  }

  /** Returns the complete settings after a change. The address is dropped with a change to `pull`. */
  #changed(before: WholeSettings, kept: StoredCredentials, changes: ConnectorChanges): WholeSettings {
    const { publish_url: known, ...rest } = before
    const isPull = (changes.delivery ?? before.delivery) === 'pull'
    const { publish_url: url = isPull ? undefined : known } = changes
    const wanted = { ...rest, ...changes, ...(url !== undefined && { publish_url: url }) }
    const after = checkSettings(wanted, this.#deps.outbound)
    if (changes.credentials === undefined) requireOwnCredentials(kept, after)
    return after
  }

  #described(tx: TenantTx, settings: WholeSettings): { [member: string]: JsonValue } {
    return describeSettings(settings, (url) => this.#deps.describeUrl(tx.tenantId, url))
  }

  async #record(
    tx: TenantTx,
    caller: Caller,
    connectorId: string,
    details: { [member: string]: JsonValue },
    kind: GovernanceKind = 'tenant.config_changed',
  ): Promise<void> {
    const event = { kind, subject: `connector:${connectorId}`, details, actor: caller }
    await this.#deps.governance.append(tx, caller.tenant, event)
  }

  async #answer(tx: TenantTx, tenant: Tenant, connectorId: string): Promise<ConnectorResponse> {
    return this.#toResponse(tx, tenant, await existing(tx, connectorId))
  }

  async #toResponse(tx: TenantTx, tenant: Tenant, row: store.ConnectorWithHealth): Promise<ConnectorResponse> {
    const { credentials } = (await this.#deps.vault.read(tx, tenant, row)) ?? noCredentials
    const sent = this.#deps.deliveries.credentialsSent({ ...row, credentials })
    const names = Object.keys(credentials).sort()
    return toConnectorResponse(tenant, row, { names, unused: names.filter((name) => !sent.includes(name)) })
  }

  /** Runs a change with the connectors locked. */
  #locked<T>({ tenant }: Caller, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      await store.lockConnectors(tx)
      return work(tx)
    })
  }
}

async function existing(tx: TenantTx, connectorId: string): Promise<store.ConnectorWithHealth> {
  const row = await store.connectorById(tx, connectorId)
  if (!row || row.removed_at !== null) throw notFound()
  return row
}

/** Returns the credentials of these settings with their origin. */
function keptOf({ credentials, publish_url }: WholeSettings): StoredCredentials {
  return { credentials, origin: originOf(publish_url) }
}

function notFound(): DomainError {
  return new DomainError(
    'not-found',
    'The tenant has no connector with this id. GET /api/v1/llm/connectors lists them.',
  )
}

function nameTaken(platform: string): DomainError {
  const detail = `is the name of another connector of the platform ${platform}`
  return new DomainError('concurrent-modification', `/display_name ${detail}. Take another name.`, {
    errors: [{ pointer: '/display_name', detail }],
  })
}
