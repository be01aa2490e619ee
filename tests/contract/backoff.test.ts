import { expect, test } from 'vitest'
import { backoff } from '../../contract/backoff.ts'

test('each pause doubles the one before, up to the maximum', () => {
  const pausesOf = (pauses: { first: number; max?: number }) => [0, 1, 2, 3, 4].map((at) => backoff(at, pauses))
  expect(pausesOf({ first: 500, max: 3_000 })).toEqual([500, 1_000, 2_000, 3_000, 3_000])
  expect(pausesOf({ first: 0.25 })).toEqual([0.25, 0.5, 1, 2, 4])
})

test('an outage of any length keeps the maximum, and a first pause above it is cut', () => {
  expect(backoff(100_000, { first: 500, max: 60_000 })).toBe(60_000)
  expect(backoff(0, { first: 500, max: 100 })).toBe(100)
})
