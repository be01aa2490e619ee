import type { JsonValue } from '../../../provenance/json.ts'

/** Maximum length of a list in a finding. Longer lists are reported with their full count. */
export const listedMax = 64

/** Returns a list in the form of a finding, shortened, so that events stay small regardless of the damage. */
export function listed<Item extends string | number>(name: string, items: readonly Item[]): Record<string, JsonValue> {
  const shown: JsonValue = items.slice(0, listedMax)
  return items.length > listedMax ? { [name]: shown, [`${name}_count`]: items.length } : { [name]: shown }
}
