import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { limitConcurrency } from '../../server/modules/auth/service-accounts/client-directory.ts'

test('so much runs at a time, in the order it came, and a failure gives its place on', async () => {
  const inTurn = limitConcurrency(3)
  const begun: number[] = []
  let running = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      inTurn(async () => {
        begun.push(index)
        running += 1
        most = Math.max(most, running)
        await turn()
        running -= 1
        if (index % 4 === 0) throw new Error(`${index}`)
        return index
      }),
    ),
  )
  expect(most).toBe(3)
  expect(begun).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(5)
  expect(await inTurn(async () => 'free')).toBe('free')
})
