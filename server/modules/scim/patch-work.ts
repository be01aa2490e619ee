import { scimPatchPathCost, scimPatchPathsLengthMax, scimPatchWorkMax } from '../../../contract/limits.ts'
import { isJsonObject, type JsonValue } from '../../../provenance/json.ts'
import type { DirectoryFilter } from '../roster/directory/directory-types.ts'
import { scimProblem } from './scim-problems.ts'

/** Number of characters compared in the time of one step. */
const charactersPerStep = 64

/**
 * Limits the cost of one PATCH. Operations multiply with values and with the comparisons of a filter, and they block
 * the event loop. A request for more than any directory needs is rejected before it runs.
 */
export class PatchWork {
  private steps = 0
  private paths = 0

  /**
   * Adds steps to the cost.
   *
   * @throws DomainError 400 with scimType `tooMany`
   */
  spend(steps: number): void {
    this.steps += steps
    if (this.steps > scimPatchWorkMax) throw tooMany('on so many values')
  }

  /**
   * Adds the cost of a path before it is parsed.
   *
   * @throws DomainError 400 with scimType `tooMany`
   */
  spendPath(text: string): void {
    this.paths += text.length + scimPatchPathCost
    if (this.paths > scimPatchPathsLengthMax) throw tooMany('by so many or so long paths')
  }

  /** Adds the cost of a filter before it is applied to each value. Throws as {@link spend}. */
  spendFilter(filter: DirectoryFilter, values: readonly JsonValue[]): void {
    const { terms, characters } = sizeOf(filter)
    const perValue = terms + characters / charactersPerStep
    this.spend(values.length * perValue)
    this.spend((terms * lengthOf(values)) / charactersPerStep)
  }
}

function tooMany(what: string) {
  return scimProblem(
    'tooMany',
    `The operations work ${what} that one request is not enough. Send them in several requests.`,
  )
}

function sizeOf(filter: DirectoryFilter): { terms: number; characters: number } {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const sizes = filter.terms.map(sizeOf)
      return {
        terms: sizes.reduce((sum, { terms }) => sum + terms, 0),
        characters: sizes.reduce((sum, { characters }) => sum + characters, 0),
      }
    }
    case 'not':
      return sizeOf(filter.term)
    case 'some':
      return sizeOf(filter.filter)
    case 'present':
      return { terms: 1, characters: 0 }
    case 'compare':
      return { terms: 1, characters: typeof filter.value === 'string' ? filter.value.length : 0 }
  }
}

/** Returns the total length of the texts in values of a multi-valued attribute, which are one level deep. */
function lengthOf(values: readonly JsonValue[]): number {
  let length = 0
  for (const value of values) {
    for (const part of isJsonObject(value) ? Object.values(value) : [value]) {
      if (typeof part === 'string') length += part.length
    }
  }
  return length
}
