import { suggestionsMax } from '../../../contract/limits.ts'
import type { Scope } from '../../../contract/scopes.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { RecordTitles } from './record-titles.ts'
import { type Suggestion, type SuggestionKind, suggestionKinds } from './search-schemas.ts'
import { containing, findArchetypes, findModels, findPeople, findSkills, type SuggestionRow } from './suggest-store.ts'

/** Suggests ids while somebody types. */
export interface Suggestions {
  /** Returns up to ten suggestions of the kinds that the caller may read; those of each kind in turns. */
  suggest(caller: Caller, wanted: { q: string; kind?: SuggestionKind }): Promise<Suggestion[]>
}

/** A token with one of the scopes gets suggestions of the kind. Records are filtered by type besides. */
const scopesOf: Readonly<Record<SuggestionKind, readonly Scope[]>> = {
  skill: ['hub:read', 'skill_entitlement:read', 'telemetry:read'],
  person: ['roster:read'],
  archetype: ['roster:read', 'skill_entitlement:read', 'telemetry:read'],
  model: ['telemetry:read', 'hub:read'],
  record: ['hub:read', 'governance:read'],
}
/** Scopes that show the names of skills. */
const namesOfSkills: readonly Scope[] = ['hub:read', 'skill_entitlement:read']
/** Scopes that show the names of archetypes. */
const namesOfArchetypes: readonly Scope[] = ['roster:read']
/** Days of events whose models are suggested, and of those that may not be compacted yet. */
const modelDays = { compacted: 365, open: 2 }
const quarterHoursPerDay = 96

export function createSuggestions(deps: { database: Database; titles: RecordTitles }): Suggestions {
  const holds = (caller: Caller, scopes: readonly Scope[]) => scopes.some((scope) => caller.scopes.has(scope))

  function find(tx: TenantTx, caller: Caller, kind: SuggestionKind, q: string): Promise<SuggestionRow[]> {
    const pattern = containing(q)
    switch (kind) {
      case 'skill':
        return findSkills(tx, pattern, holds(caller, namesOfSkills), suggestionsMax)
      case 'person':
        return findPeople(tx, pattern, suggestionsMax)
      case 'archetype':
        return findArchetypes(tx, pattern, holds(caller, namesOfArchetypes), suggestionsMax)
      case 'model':
        return findModels(
          tx,
          pattern,
          { day: daysAgo(modelDays.compacted), quarter: daysAgo(modelDays.open) },
          suggestionsMax,
        )
      case 'record':
        return deps.titles.find(tx, caller, q, suggestionsMax)
    }
  }

  return {
    async suggest(caller, { q, kind }) {
      const text = q.replaceAll('\0', '').trim()
      const kinds = (kind === undefined ? suggestionKinds : [kind]).filter((one) => holds(caller, scopesOf[one]))
      if (text === '' || kinds.length === 0) return []
      const found = await readTenant(
        deps.database,
        caller.tenant.slug,
        async (tx) => {
          const lists: Suggestion[][] = []
          for (const one of kinds) {
            lists.push((await find(tx, caller, one, text)).map((row) => ({ kind: one, ...row })))
          }
          return lists
        },
        { search: true, onReplica: true },
      )
      return inTurns(found).slice(0, suggestionsMax)
    },
  }
}

/** Returns the first of each list, then the second of each, and so on. */
function inTurns<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

/** Returns the quarter of an hour, since 1970, in which a day began. */
function daysAgo(days: number): number {
  return (Math.floor(Date.now() / 86_400_000) - days) * quarterHoursPerDay
}
