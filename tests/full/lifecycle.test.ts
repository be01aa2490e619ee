import { afterAll, beforeAll, test } from 'vitest'
import { checkLifecycles } from '../hub/lifecycle-runs.ts'
import { openRecordLab, type RecordLab } from '../hub/record-lab.ts'
import { testLength } from '../support/test-length.ts'

let lab: RecordLab

beforeAll(async () => {
  lab = await openRecordLab()
})
afterAll(() => lab.drop())

test('no long sequence of calls brings a record into a state that it must not be in', async () => {
  await checkLifecycles(lab, { numRuns: testLength({ short: 60, long: 1500 }), maxCommands: 60 })
})
