import { scimPageMembersMax } from '../../../../contract/limits.ts'

/** Counting stops here: a resource with more is returned without its entries. */
export const countLimit = scimPageMembersMax + 1

const countedAtOnce = 50
/** Cost of counting entries that the response then leaves out. */
const costOfTooMany = scimPageMembersMax / 20

/**
 * Returns as many of the first rows as fit into a response together with their entries (members of groups, groups of
 * people); at least one.
 *
 * @param countsOf counts the entries of these ids, up to `countLimit`
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
