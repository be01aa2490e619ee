import { expect, test } from 'vitest'
import { verdictOfRecord } from '../../web/verification/record-verdict.ts'
import { type Step, type StepState, stepNames, type Verification, verdictOf } from '../../web/verification/steps.ts'

const passed: readonly Step[] = stepNames.map((name) => ({ name, state: 'passed', found: '' }))
/** As somebody could claim of them. */
const claimed = (steps: readonly Step[]): Verification => ({ verdict: 'verified', steps })
const verdictAt = (at: number, state: StepState) =>
  verdictOfRecord(claimed(passed.map((step, index) => (index === at ? { ...step, state } : step))))

test('a record is genuine in one line where all steps passed', () => {
  expect(verdictOf(passed)).toBe('verified')
  expect(verdictOfRecord(claimed(passed))).toBe('verified')
})

test.each(stepNames.map((name, at) => [name, at] as const))('never where the step %s did not pass', (_, at) => {
  expect(verdictAt(at, 'failed')).toBe('tampered')
  expect(verdictAt(at, 'unknown')).toBe('unproven')
  const without = passed.filter((_step, index) => index !== at)
  expect(verdictOfRecord(claimed(without))).toBe('unproven')
  const twice: Step[] = [...passed, { ...passed[at]!, state: 'failed' }]
  expect(verdictOfRecord(claimed(twice))).toBe('tampered')
  expect(verdictOfRecord(claimed([...without, passed[(at + 1) % passed.length]!]))).toBe('unproven')
})

test('never where no step was made, or the verdict is another', () => {
  expect(verdictOf([])).toBe('unproven')
  expect(verdictOfRecord(claimed([]))).toBe('unproven')
  for (const verdict of ['tampered', 'unproven'] as const)
    expect(verdictOfRecord({ verdict, steps: passed })).toBe(verdict)
})
