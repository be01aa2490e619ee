import { scimPageMembersMax } from '../../../../contract/limits.ts'

/**
 * The first rows, as far as what hangs on each (members of groups, groups of people) makes no answer that is too long; one
 * at least. Rows with more than an answer may have count nothing, for it is left out of them.
 */
export function shortPage<Row>(rows: readonly Row[], countOf: (row: Row) => number): readonly Row[] {
  let entries = 0
  const end = rows.findIndex((row, index) => {
    const count = countOf(row)
    if (count <= scimPageMembersMax) entries += count
    return index > 0 && entries > scimPageMembersMax
  })
  return end === -1 ? rows : rows.slice(0, end)
}
