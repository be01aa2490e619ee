import { expect, test } from 'vitest'
import { counted } from '../../cli/output.ts'

test('one is one, and all else is many', () => {
  expect([0, 1, 2, 1500].map((number) => counted(number, 'record'))).toEqual([
    '0 records',
    '1 record',
    '2 records',
    '1,500 records',
  ])
  expect([1, 2].map((number) => counted(number, 'entry', 'entries'))).toEqual(['1 entry', '2 entries'])
})
