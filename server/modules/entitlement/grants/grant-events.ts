import type { JsonObject } from '../../../../provenance/json.ts'
import type { GrantPair } from './grants-store.ts'

/** Maximum number of ids of each kind that a governance event names; its counts are always complete. */
const namedInEventMax = 1_000

/** Returns the details of new and revoked grants for an event: ids only, since events outlive their subjects. */
export function grantDetails(granted: readonly GrantPair[], revoked: readonly GrantPair[]): JsonObject {
  return {
    granted: named(granted.map(pairOf)),
    granted_count: granted.length,
    revoked: named(revoked.map(pairOf)),
    revoked_count: revoked.length,
  }
}

/** Returns as many items as an event may name. */
export function named<Item>(items: readonly Item[]): Item[] {
  return items.slice(0, namedInEventMax)
}

/** Sorts grants as lists do: by archetype, then by skill. */
export function sortedPairs(pairs: readonly GrantPair[]): GrantPair[] {
  return pairs.map(pairOf).sort((a, b) => compare(a.archetype_id, b.archetype_id) || compare(a.skill_id, b.skill_id))
}

function pairOf({ archetype_id, skill_id }: GrantPair): { archetype_id: string; skill_id: string } {
  return { archetype_id, skill_id }
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
