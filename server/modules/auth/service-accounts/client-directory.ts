import { LRUCache } from 'lru-cache'
import type { Database } from '../../../db/database.ts'
import { remembered } from '../../../remembered.ts'
import { isClientId } from './client-secrets.ts'
import { type ClientRecord, isClientActive, readClient, tenantOfClient } from './service-accounts-store.ts'

/** How long a change of an account may go unnoticed; the promise is 5 seconds. */
const freshMs = 2_000
const entriesMax = 10_000
/** Stands in for the tenant of an unknown client: looking there takes as long, and finds nothing. */
const nobody = 'unknown-client'

export interface KnownClient extends ClientRecord {
  tenantSlug: string
}

/** Service accounts across tenants, each kept for two seconds. */
export interface ClientDirectory {
  find(clientId: string): Promise<KnownClient | undefined>
  isActive(tenantSlug: string, clientId: string): Promise<boolean>
}

export function createClientDirectory(deps: { database: Database }): ClientDirectory {
  const { database } = deps
  const clients = new LRUCache<string, { client: KnownClient | undefined }>({
    max: entriesMax,
    ttl: freshMs,
    fetchMethod: async (clientId) => {
      const listed = await database.withRegistry((tx) => tenantOfClient(tx, clientId))
      const tenantSlug = listed ?? nobody
      const record = await database.withTenant(tenantSlug, (tx) => readClient(tx, clientId), { readOnly: true })
      return { client: listed && record ? { ...record, tenantSlug } : undefined }
    },
  })
  const active = new LRUCache<string, boolean>({
    max: entriesMax,
    ttl: freshMs,
    fetchMethod: (key) => {
      const [tenantSlug = '', clientId = ''] = key.split(' ')
      return database.withTenant(tenantSlug, (tx) => isClientActive(tx, clientId), { readOnly: true })
    },
  })
  return {
    async find(clientId) {
      return isClientId(clientId) ? (await clients.fetch(clientId))?.client : undefined
    },
    async isActive(tenantSlug, clientId) {
      return isClientId(clientId) && (await remembered(active, `${tenantSlug} ${clientId}`)) === true
    },
  }
}
