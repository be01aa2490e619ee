interface Revoked {
  minEpoch: number
  knownAtMs: number
}

/** Holds the lowest valid epoch of each principal in memory. */
export interface RevokedEpochs {
  /** Adds a revocation; the higher of two epochs stays. */
  add(tenantSlug: string, principal: string, minEpoch: number): void
  /** Returns the lowest valid epoch; 0 if nothing is revoked. Every request calls this several times. */
  minEpoch(tenantSlug: string, principal: string): number
  /** Deletes entries that concern no living token any more. */
  forgetOld(): void
}

/** @param keepMs milliseconds to keep an entry: the longest life of a token */
export function createRevokedEpochs(keepMs: number, now: () => number): RevokedEpochs {
  const tenants = new Map<string, Map<string, Revoked>>()
  let sweptAtMs = now()
  return {
    add(tenantSlug, principal, minEpoch) {
      const principals = tenants.get(tenantSlug) ?? new Map<string, Revoked>()
      tenants.set(tenantSlug, principals)
      const known = principals.get(principal)
      // Polls of the next minutes read the same row again, which must not prolong its time here.
      if (known && known.minEpoch >= minEpoch) return
      principals.set(principal, { minEpoch, knownAtMs: now() })
    },
    minEpoch: (tenantSlug, principal) => tenants.get(tenantSlug)?.get(principal)?.minEpoch ?? 0,
    forgetOld() {
      if (now() - sweptAtMs < keepMs / 10) return
      sweptAtMs = now()
      for (const [slug, principals] of tenants) {
        for (const [principal, { knownAtMs }] of principals) {
          if (sweptAtMs - knownAtMs > keepMs) principals.delete(principal)
        }
        if (principals.size === 0) tenants.delete(slug)
      }
    },
  }
}
