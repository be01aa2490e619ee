import { searchLengthMax } from '../../../contract/limits.ts'

const nameMax = 200

/** Returns the full-text query for records that contain one of the names as a phrase; undefined without names. */
export function phrasesOf(names: readonly (string | undefined)[]): string | undefined {
  const phrases = names.flatMap((name) => {
    const words = name?.replaceAll('"', ' ').trim().slice(0, nameMax)
    return words ? [`"${words}"`] : []
  })
  return [...new Set(phrases)].reduce<string | undefined>((query, phrase) => {
    const longer = query === undefined ? phrase : `${query} or ${phrase}`
    return longer.length > searchLengthMax ? query : longer
  }, undefined)
}
