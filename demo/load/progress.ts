import type { DemoOptions } from '../demo-api.ts'

/** Counts what a step has done. A step that ends early is counted as done. */
export interface StepProgress {
  advance(count: number): void
}

/** Reports progress over all steps of a load, in units of about equal time. */
export function createProgress(totals: Record<string, number>, onProgress: DemoOptions['onProgress']) {
  const total = Math.round(Object.values(totals).reduce((sum, count) => sum + count, 0))
  let before = 0
  return {
    async step<T>(name: string, work: (progress: StepProgress) => Promise<T>): Promise<T> {
      const ofStep = totals[name] ?? 0
      let inStep = 0
      const report = () => onProgress?.({ step: name, done: Math.round(before + inStep), total })
      report()
      const result = await work({
        advance(count) {
          inStep = Math.min(inStep + count, ofStep)
          report()
        },
      })
      before += ofStep
      inStep = 0
      report()
      return result
    },
  }
}
