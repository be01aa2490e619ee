import { isJsonObject, type JsonValue, type KeyDocumentEntry } from '../../provenance/index.ts'

/** What this browser keeps of a tenant's log, so that what the Hub says later has to go on from it. */
export interface Trust {
  logName: string
  /** When the first key was taken on trust. */
  pinnedAt: string
  /** Entries of the key document, as they were when they came to be trusted. */
  keys: readonly KeyDocumentEntry[]
  /** The furthest signed state of the log that was seen, and that continued the one before. */
  checkpoint?: { note: string; treeSize: number; seenAt: string }
}

/** `localStorage`, or what stands for it. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const nameOf = (tenant: string) => `hub-trust:${tenant}`

/** What is kept of the tenant; undefined before the first use. What somebody made unreadable counts as nothing. */
export function readTrust(store: Store, tenant: string): Trust | undefined {
  try {
    const kept: JsonValue = JSON.parse(store.getItem(nameOf(tenant)) ?? 'null')
    if (!isJsonObject(kept) || typeof kept.logName !== 'string' || !Array.isArray(kept.keys)) return undefined
    return kept as unknown as Trust
  } catch {
    return undefined
  }
}

/** False where the browser keeps nothing: storage is switched off, or full. */
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
    // Nothing is kept there.
  }
}

/**
 * Keeps a checkpoint, unless another tab has kept a later one meanwhile: what is kept only grows.
 *
 * @param checkpoint of the kept log, signed by a trusted key, and proven to continue what is kept
 */
export function keepCheckpoint(store: Store, tenant: string, checkpoint: NonNullable<Trust['checkpoint']>): void {
  const trust = readTrust(store, tenant)
  if (!trust || (trust.checkpoint && trust.checkpoint.treeSize >= checkpoint.treeSize)) return
  writeTrust(store, tenant, { ...trust, checkpoint })
}
