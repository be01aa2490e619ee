import { afterAll, beforeAll, test } from 'vitest'
import { checkLifecycles } from './lifecycle-runs.ts'
import { openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab

beforeAll(async () => {
  lab = await openRecordLab()
})
afterAll(() => lab.drop())

test('no sequence of calls brings a record into a state that it must not be in, or that does not verify', async () => {
  await checkLifecycles(lab, { numRuns: 40, maxCommands: 40, seed: 20260314 })
})
