import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { connectorsMax } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { openCursor, signCursor } from '../../http/cursor.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { constantTimeEqual } from '../../secrets/constant-time-equal.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { RedactedUrl } from '../../secrets/redacted-url.ts'
import type { Deliveries } from '../distribution/distribution-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { InboundSecrets } from '../inbound/inbound-types.ts'
import { type CredentialVault, type KeptCredentials, originOf, textOf } from './connector-credentials.ts'
import { toConnectorResponse } from './connector-response.ts'
import { checkSettings, furtherProblems, requireOwnCredentials, type WholeSettings } from './connector-settings.ts'
import * as store from './connectors-store.ts'
import type { ConnectorAdministration, ConnectorChanges } from './connectors-types.ts'

export function createConnectorAdministration(deps: {
  database: Database
  governance: GovernanceLog
  outbound: Outbound
  vault: CredentialVault
  inboundSecrets: InboundSecrets
  deliveries: Deliveries
  cursorKey: Buffer
  describeUrl: (tenantId: string, url: string) => RedactedUrl
}): ConnectorAdministration {
  const { database, governance, outbound, vault, inboundSecrets, deliveries, cursorKey } = deps

  /**
   * Returns settings for events: only the names of credentials, and only the part of the address that may be stored
   * permanently.
   */
  function described(tx: TenantTx, settings: Omit<WholeSettings, 'credentials'>): { [member: string]: JsonValue } {
    const { platform, display_name, delivery, publish_url } = settings
    if (publish_url === undefined) return { platform, display_name, delivery }
    const { url, url_digest } = deps.describeUrl(tx.tenantId, publish_url)
    const address = { publish_url: url, ...(url_digest !== undefined && { publish_url_digest: url_digest }) }
    return { platform, display_name, delivery, ...address }
  }

  const describedWhole = (tx: TenantTx, settings: WholeSettings) => ({
    ...described(tx, settings),
    credentials: Object.keys(settings.credentials).sort(),
  })

  async function answerOf(tx: TenantTx, tenant: Tenant, connectorId: string) {
    const row = await existing(tx, connectorId)
    return shown(tx, tenant, row)
  }

  async function shown(tx: TenantTx, tenant: Tenant, row: store.ConnectorWithHealth) {
    const { credentials } = (await vault.read(tx, tenant, row)) ?? noCredentials
    const sent = deliveries.credentialsSent({ ...row, credentials })
    const names = Object.keys(credentials).sort()
    return toConnectorResponse(tenant, row, { names, unused: names.filter((name) => !sent.includes(name)) })
  }

  async function add(tx: TenantTx, caller: Caller, settings: WholeSettings): Promise<string> {
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
      credentials_sealed: await vault.seal(tx, caller.tenant, connectorId, keptOf(settings)),
      created_at: now,
      created_by: caller.subject,
      updated_at: now,
    })
    await deliveries.begin(tx, connectorId)
    await governance.append(tx, caller.tenant, {
      kind: 'connector.added',
      subject: `connector:${connectorId}`,
      details: { kind: 'llm', connector_id: connectorId, ...describedWhole(tx, settings) },
      actor: caller,
    })
    return connectorId
  }

  async function change(
    tx: TenantTx,
    caller: Caller,
    row: store.ConnectorRow,
    changes: ConnectorChanges,
    name = 'connector',
  ): Promise<void> {
    const stored = await vault.read(tx, caller.tenant, row)
    const kept = stored ?? noCredentials
    const before = settingsOf(row, kept.credentials)
    const isPull = (changes.delivery ?? row.delivery) === 'pull'
    const { publish_url: url = isPull ? undefined : (row.publish_url ?? undefined) } = changes
    const { publish_url: _, ...rest } = before
    const after = checkSettings({ ...rest, ...changes, ...(url !== undefined && { publish_url: url }) }, outbound)
    if (changes.credentials === undefined) requireOwnCredentials(kept, after)
    const keptAfter = changes.credentials === undefined ? kept : keptOf(after)
    // Replacing destroyed credentials counts as a change.
    const isAnew = stored === undefined && changes.credentials !== undefined
    const credentialsChanged = isAnew || !constantTimeEqual(textOf(kept), textOf(keptAfter))
    const [was, is] = [describedWhole(tx, before), describedWhole(tx, after)]
    const urlChanged = before.publish_url !== after.publish_url
    if (!credentialsChanged && !urlChanged && JSON.stringify(was) === JSON.stringify(is)) return
    await store.changeConnector(tx, {
      connector_id: row.connector_id,
      ...columnsOf(after),
      credentials_sealed: credentialsChanged
        ? await vault.seal(tx, caller.tenant, row.connector_id, keptAfter)
        : row.credentials_sealed,
      updated_at: formatTimestamp(Date.now()),
    })
    const otherReceiver = credentialsChanged || urlChanged
    await deliveries.renew(tx, row.connector_id, { otherReceiver })
    await governance.append(tx, caller.tenant, {
      kind: 'tenant.config_changed',
      subject: `connector:${row.connector_id}`,
      details: {
        change: name,
        before: was,
        after: is,
        credentials_changed: credentialsChanged,
      },
      actor: caller,
    })
  }

  /** Runs a change with the connectors locked. */
  function locked<T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return database.withTenant(tenant.slug, async (tx) => {
      await store.lockConnectors(tx)
      return work(tx)
    })
  }

  return {
    furtherProblems: (sound, body) => furtherProblems(sound, body, outbound),

    create: (caller, settings) =>
      locked(caller.tenant, async (tx) => {
        const known = await store.connectorNamed(tx, settings.platform, settings.display_name)
        if (known) {
          const { platform: _, ...changes } = settings
          await change(tx, caller, known, changes)
          return answerOf(tx, caller.tenant, known.connector_id)
        }
        const { credentials = {} } = settings
        const connectorId = await add(tx, caller, checkSettings({ ...settings, credentials }, outbound))
        const secret = await inboundSecrets.make(tx, caller.tenant, connectorId, 'connector')
        return {
          ...(await answerOf(tx, caller.tenant, connectorId)),
          inbound: { connection_id: connectorId, secret },
        }
      }),

    async list(tenant, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listConnectors', query: {} }
      const after = cursor === undefined ? undefined : openCursor(cursorKey, binding, cursor)
      return database.withTenant(
        tenant.slug,
        async (tx) => {
          const rows = await store.connectorsAfter(tx, after as store.ConnectorPosition | undefined, limit + 1)
          const last = rows.length > limit ? rows[limit - 1] : undefined
          const items = []
          for (const row of rows.slice(0, limit)) {
            items.push(await shown(tx, tenant, row))
          }
          const next = last && signCursor(cursorKey, binding, [last.created_at, last.connector_id])
          return { items, next_cursor: next ?? null }
        },
        { readOnly: true, inIndexOrder: true },
      )
    },

    get: (tenant, connectorId) =>
      database.withTenant(tenant.slug, (tx) => answerOf(tx, tenant, connectorId), { readOnly: true }),

    update: (caller, connectorId, changes) =>
      locked(caller.tenant, async (tx) => {
        const row = await existing(tx, connectorId)
        const { display_name: name } = changes
        if (name !== undefined && name !== row.display_name) {
          const other = await store.connectorNamed(tx, row.platform, name)
          if (other) throw nameTaken(row.platform)
        }
        await change(tx, caller, row, changes)
        return answerOf(tx, caller.tenant, connectorId)
      }),

    remove: (caller, connectorId) =>
      locked(caller.tenant, async (tx) => {
        const row = await store.connectorById(tx, connectorId)
        if (!row) throw notFound()
        if (row.removed_at !== null) return { connector_id: connectorId, removed_at: row.removed_at }
        const now = formatTimestamp(Date.now())
        await store.setRemoved(tx, connectorId, now)
        await deliveries.end(tx, connectorId)
        await inboundSecrets.remove(tx, connectorId)
        await governance.append(tx, caller.tenant, {
          kind: 'tenant.config_changed',
          subject: `connector:${connectorId}`,
          details: { change: 'connector_removed', before: described(tx, settingsOf(row, {})), after: null },
          actor: caller,
        })
        return { connector_id: connectorId, removed_at: now }
      }),

    rotate: (caller, connectorId, credentials) =>
      locked(caller.tenant, async (tx) => {
        await change(tx, caller, await existing(tx, connectorId), { credentials }, 'connector_credentials_rotated')
        return answerOf(tx, caller.tenant, connectorId)
      }),

    rotateInboundSecret: (caller, connectorId) =>
      locked(caller.tenant, async (tx) => {
        await existing(tx, connectorId)
        const rotated = await inboundSecrets.rotate(tx, caller.tenant, connectorId, 'connector')
        const { former_secret_until: until } = rotated
        await governance.append(tx, caller.tenant, {
          kind: 'tenant.config_changed',
          subject: `connector:${connectorId}`,
          details: {
            change: 'connector_inbound_secret_rotated',
            after: { ...(until !== undefined && { former_secret_until: until }) },
          },
          actor: caller,
        })
        return rotated
      }),
  }
}

async function existing(tx: TenantTx, connectorId: string): Promise<store.ConnectorWithHealth> {
  const row = await store.connectorById(tx, connectorId)
  if (!row || row.removed_at !== null) throw notFound()
  return row
}

function settingsOf(row: store.ConnectorRow, credentials: WholeSettings['credentials']): WholeSettings {
  const { platform, display_name, delivery, publish_url } = row
  return { platform, display_name, delivery, ...(publish_url !== null && { publish_url }), credentials }
}

const noCredentials: KeptCredentials = { credentials: {}, origin: null }

/** Returns the credentials of these settings with their origin. */
function keptOf({ credentials, publish_url }: WholeSettings): KeptCredentials {
  return { credentials, origin: originOf(publish_url) }
}

function columnsOf(settings: WholeSettings) {
  const { display_name, delivery, publish_url = null } = settings
  return { display_name, delivery, publish_url }
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
