import { scimPageMembersMax } from '../../../../contract/limits.ts'

/** Counted no further: whatever has more is answered without what it has. */
export const countLimit = scimPageMembersMax + 1

const countedAtOnce = 50
/** Of what is left out of the answer, the counting. */
const costOfTooMany = scimPageMembersMax / 20

/**
 * The first rows, as far as what hangs on each (members of groups, groups of people) makes no answer that is too long; one
 * at least.
 *
 * @param countsOf how much hangs on these ids, counted as far as `countLimit`
 */
export async function shortPage<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  countsOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>,
): Promise<readonly Row[]> {
  let entries = 0
  for (let from = 0; from < rows.length; from += countedAtOnce) {
    const ids = rows.slice(from, from + countedAtOnce).map(idOf)
    const counts = await countsOf(ids)
    for (const [index, id] of ids.entries()) {
      const count = counts.get(id) ?? 0
      entries += count > scimPageMembersMax ? costOfTooMany : count
      const end = from + index
      if (end > 0 && entries > scimPageMembersMax) return rows.slice(0, end)
    }
  }
  return rows
}
