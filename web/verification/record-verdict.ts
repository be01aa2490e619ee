import { stepNames, type Verdict, type Verification, verdictOf } from './steps.ts'

/**
 * Returns the verdict of a record for places without its steps: genuine only if every existing step was made once and
 * passed.
 */
export function verdictOfRecord({ verdict, steps }: Verification): Verdict {
  if (verdict !== 'verified') return verdict
  const passed = new Set(steps.filter(({ state }) => state === 'passed').map(({ name }) => name))
  const isWhole = passed.size === steps.length && stepNames.every((name) => passed.has(name))
  if (isWhole) return 'verified'
  return verdictOf(steps) === 'tampered' ? 'tampered' : 'unproven'
}
