import { expect, test } from 'vitest'
import { scimPageMembersMax } from '../../contract/limits.ts'
import { countLimit, shortPage } from '../../server/modules/roster/directory/short-page.ts'

/** How many of the rows, given by what hangs on each, are on the page; and how many were counted for it. */
async function page(counts: readonly number[]): Promise<{ shown: number; counted: number }> {
  let counted = 0
  const rows = counts.map((count, at) => ({ id: String(at), count }))
  const shown = await shortPage(
    rows,
    ({ id }) => id,
    async (ids) => {
      counted += ids.length
      return new Map(ids.map((id) => [id, Math.min(counts[Number(id)]!, countLimit)]))
    },
  )
  expect(shown).toEqual(rows.slice(0, shown.length))
  return { shown: shown.length, counted }
}

test('a page ends before what hangs on its rows is too much, and nothing beyond is counted', async () => {
  expect((await page([])).shown).toBe(0)
  expect((await page([0, 0, 0])).shown).toBe(3)
  expect((await page([scimPageMembersMax, 0, 1])).shown).toBe(2)
  expect((await page([scimPageMembersMax - 1, 1, 1])).shown).toBe(2)
  expect(await page(Array(1000).fill(scimPageMembersMax / 100))).toEqual({ shown: 100, counted: 150 })
})

test('what has too much for any answer ends no page at once, nor stands in for many', async () => {
  const huge = scimPageMembersMax * 10
  expect((await page([huge])).shown).toBe(1)
  expect((await page([huge, 1, huge, 1])).shown).toBe(4)
  expect(await page(Array(1000).fill(huge))).toEqual({ shown: 20, counted: 50 })
})
