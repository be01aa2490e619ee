interface Revoked {
  minEpoch: number
  knownAtMs: number
}

/** Which epochs of tokens are still good, in memory. */
export interface RevokedEpochs {
  /** The higher of two epochs stays. */
  add(tenantSlug: string, principal: string, minEpoch: number): void
  /** The lowest epoch that is good; 0 where nothing is revoked. It is asked several times for every request. */
  minEpoch(tenantSlug: string, principal: string): number
  /** Forgets what concerns no living token any more. */
  forgetOld(): void
}

/** @param keepMs how long the tokens that something concerns may live */
export function createRevokedEpochs(keepMs: number, now: () => number): RevokedEpochs {
  const tenants = new Map<string, Map<string, Revoked>>()
  let sweptAtMs = now()
  return {
    add(tenantSlug, principal, minEpoch) {
      const principals = tenants.get(tenantSlug) ?? new Map<string, Revoked>()
      tenants.set(tenantSlug, principals)
      const known = principals.get(principal)
      // Read again in every look of the next minutes, which is no reason to keep it longer.
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
