import { publishedWithinSeconds } from '../../../contract/limits.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ConnectorWithHealth } from './connectors-store.ts'
import type { ConnectorResponse } from './connectors-types.ts'

type StoredError = NonNullable<ConnectorResponse['health']['error']>

/**
 * Returns a connector in the form of a response.
 *
 * @param credentials the names of those that are set, and of those among them that are not sent
 */
export function toConnectorResponse(
  tenant: Tenant,
  row: ConnectorWithHealth,
  credentials: { names: string[]; unused: string[] },
): ConnectorResponse {
  const manifest = '/api/v1/skill-entitlement/distribution/manifest'
  return {
    connector_id: row.connector_id,
    platform: row.platform,
    display_name: row.display_name,
    delivery: row.delivery,
    ...(row.publish_url !== null && { publish_url: row.publish_url }),
    manifest_url: `${tenant.baseUrl}${manifest}?connector_id=${row.connector_id}`,
    credentials: credentials.names,
    ...(credentials.unused.length > 0 && { unused_credentials: credentials.unused }),
    inbound: { connection_id: row.connector_id },
    log_name: tenant.logName,
    created_at: row.created_at,
    created_by: row.created_by,
    updated_at: row.updated_at,
    health: healthOf(row),
  }
}

function healthOf(row: ConnectorWithHealth): ConnectorResponse['health'] {
  const error = row.error as StoredError | null
  return {
    status: statusOf(row),
    ...(row.published_at !== null && { last_publish_at: row.published_at }),
    ...(row.attempted_at !== null && { last_attempt_at: row.attempted_at }),
    failures: row.failures ?? 0,
    ...(error && { error }),
    ...(row.etag !== null && { etag: row.etag }),
  }
}

function statusOf(row: ConnectorWithHealth): ConnectorResponse['health']['status'] {
  if ((row.failures ?? 0) > 0) return 'failing'
  if (row.published_at === null) return 'waiting'
  const ageMs = Date.parse(row.now) - Date.parse(row.published_at)
  return ageMs <= publishedWithinSeconds * 1000 ? 'ok' : 'late'
}

/** Returns the state of publishes that the health of the tenant depends on. */
export function publishStateOf({ published_at, error }: ConnectorWithHealth) {
  return {
    ...(published_at !== null && { publishedAt: published_at }),
    ...(error !== null && { error: error as StoredError }),
  }
}
