import type { GovernanceKind } from '../../contract/governance-kinds.ts'
import type { JsonValue } from '../../provenance/json.ts'
import type { TestHub } from '../support/hub.ts'

export const notificationsPath = '/api/v1/notifications'

/** Writes a governance event of a tenant, as the service does, and returns its id. */
export async function notify(
  hub: TestHub,
  kind: GovernanceKind,
  subject: string,
  details: Record<string, JsonValue> = {},
  slug: 'acme' | 'globex' = 'acme',
): Promise<string> {
  const tenant = await hub.tenant(slug)
  const event = { kind, subject, details, actor: { service: 'test' } }
  const { recordId } = await hub.test.database.withTenant(slug, (tx) =>
    hub.modules.governance.append(tx, tenant, event),
  )
  return recordId
}

export const listNotifications = (hub: TestHub, slug: 'acme' | 'globex' = 'acme', token?: string) =>
  hub.call(slug, 'GET', notificationsPath, token === undefined ? {} : { token })
