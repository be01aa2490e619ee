import { isJsonObject, type JsonValue, type KeyDocumentEntry } from '../../provenance/index.ts'

/** The state of a tenant's log that this browser stores. Later responses of the Hub must be consistent with it. */
export interface Trust {
  logName: string
  /** The time at which the first key was trusted. */
  pinnedAt: string
  /** Entries of the key document, as they were when they became trusted. */
  keys: readonly KeyDocumentEntry[]
  /** The latest signed state of the log that was seen and that continued the previous one. */
  checkpoint?: { note: string; treeSize: number; seenAt: string }
}

/** `localStorage`, or a substitute. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const nameOf = (tenant: string) => `hub-trust:${tenant}`

/** Returns the stored state of the tenant's log; undefined before the first use. Treats unreadable data as absent. */
export function readTrust(store: Store, tenant: string): Trust | undefined {
  try {
    const kept: JsonValue = JSON.parse(store.getItem(nameOf(tenant)) ?? 'null')
    if (!isJsonObject(kept) || typeof kept.logName !== 'string' || !Array.isArray(kept.keys)) return undefined
    return kept as unknown as Trust
  } catch {
    return undefined
  }
}

/** Stores the state. Returns false if the browser stores nothing: storage is switched off, or full. */
export function writeTrust(store: Store, tenant: string, trust: Trust): boolean {
  try {
    store.setItem(nameOf(tenant), JSON.stringify(trust))
    return true
  } catch {
    return false
  }
}

export function forgetTrust(store: Store, tenant: string): void {
  try {
    store.removeItem(nameOf(tenant))
  } catch {
    // Storage is switched off: nothing is stored.
  }
}

/**
 * Stores a checkpoint, unless another tab has stored a later one meanwhile: the stored state only grows.
 *
 * @param checkpoint of the stored log, signed by a trusted key, and proven to continue the stored state
 */
export function keepCheckpoint(store: Store, tenant: string, checkpoint: NonNullable<Trust['checkpoint']>): void {
  const trust = readTrust(store, tenant)
  if (!trust || (trust.checkpoint && trust.checkpoint.treeSize >= checkpoint.treeSize)) return
  writeTrust(store, tenant, { ...trust, checkpoint })
}
