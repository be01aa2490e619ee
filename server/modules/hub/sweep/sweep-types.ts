import type { Tenant } from '../../../http/caller.ts'

/** What a pass found, in the names of the command's answer. */
export interface Swept {
  checked: number
  /** Records whose verification failed, or that are missing. */
  failed: number
  /** Entries of the log, seals, tombstones and states that do not agree with one another. */
  inconsistent: number
}

/** Re-verifies what is stored. Findings become `hub.tamper_detected`, once per subject and UTC day. */
export interface Sweeper {
  /** Goes through all of a tenant at once, as fast as it can. */
  sweep(tenant: Tenant, options?: { signal?: AbortSignal }): Promise<Swept>
  /** Goes round in the background, at a bounded rate. */
  start(): void
  stop(): Promise<void>
}
