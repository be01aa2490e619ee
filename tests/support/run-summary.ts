import type { Reporter, TestModule } from 'vitest/node'

const shown = 10

/** Prints the factor of the timeouts before a run, and its slowest files after it. */
export class RunSummary implements Reporter {
  private readonly timeoutFactor: number

  constructor(timeoutFactor: number) {
    this.timeoutFactor = timeoutFactor
  }

  onInit(): void {
    console.log(`Timeouts × ${this.timeoutFactor}: the speed of this machine against the reference`)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= shown) return
    const slowest = modules
      .map((module) => ({ name: module.relativeModuleId, ms: durationOf(module) }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, shown)
    console.log(`\nSlowest files, set-up included:`)
    for (const { name, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`)
  }
}

function durationOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration, prepareDuration } = module.diagnostic()
  return duration + collectDuration + setupDuration + prepareDuration
}
