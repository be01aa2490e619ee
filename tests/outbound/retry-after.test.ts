import { expect, test } from 'vitest'
import { retryAfterSeconds } from '../../server/outbound/message-headers.ts'

test.each([
  ['7', 7],
  [' 7 ', 7],
  ['0', 1],
  ['999999', 600],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 1],
  ['-5', undefined],
  ['1.5x', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('%j is %j', (header, seconds) => {
  expect(retryAfterSeconds(header, 600)).toBe(seconds)
})

test('a date is so far away', () => {
  const at = new Date(Date.now() + 90_000).toUTCString()
  const seconds = retryAfterSeconds(at, 600) ?? 0
  expect(seconds).toBeGreaterThan(85)
  expect(seconds).toBeLessThanOrEqual(90)
})
