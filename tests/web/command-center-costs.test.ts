import { expect, test } from 'vitest'
import { listPriceText, listPriceTitle } from '../../web/pages/command-center/list-price-text.ts'

const format = (value: number) => `$${value}`

test.each([
  ['of events that all have one', { invocations: 4, unpriced: 0, cost_usd_computed: 0.5 }, '$0.5'],
  ['of events that cost nothing', { invocations: 4, unpriced: 0, cost_usd_computed: 0 }, '$0'],
  ['of events of which some have none', { invocations: 4, unpriced: 1, cost_usd_computed: 0.5 }, '≥ $0.5'],
  ['of events that all have none', { invocations: 4, unpriced: 4, cost_usd_computed: 0 }, 'no price'],
  ['of no events', { invocations: 0, unpriced: 0, cost_usd_computed: 0 }, '$0'],
])('list prices %s', (_, row, text) => {
  expect(listPriceText(row, format)).toBe(text)
})

test('how many have no price is said, and all digits of the others', () => {
  const row = { invocations: 4, unpriced: 1, cost_usd_computed: 0.002839 }
  expect(listPriceTitle(row)).toMatch(/0[.,]002839.*; 1 of 4 invocations have no price$/)
  expect(listPriceTitle({ ...row, unpriced: 4 })).toBe('4 of 4 invocations have no price')
})
