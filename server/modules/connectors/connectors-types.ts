import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

/** A connected platform, as other modules see it. */
export interface Connector {
  connectorId: string
  /** `claude`, …, or `custom:<name>`. */
  platform: string
  displayName: string
  delivery: 'push' | 'pull'
  publishUrl?: string
  /** RFC 3339; of the last publish that was taken. */
  publishedAt?: string
  /** Of the last attempt, where it failed. */
  error?: { detail: string; at: string }
}

export interface Connectors {
  /** All that are not removed. */
  all(tx: TenantTx): Promise<Connector[]>
}

/** Gets skills onto platforms. */
export interface SkillPublisher {
  /** Told after a commit that changed which skills are published, or to whom they are granted. */
  changed(tenant: Pick<Tenant, 'slug'>): void
  /** Publishes in the background, each connector at least every 30 seconds. */
  start(): void
  stop(): Promise<void>
}
