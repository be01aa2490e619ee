import type { DemoProgress } from '../../demo/demo-api.ts'

/** Shows progress on stderr: one updated line on a terminal, otherwise one line for each step. */
export function createProgressLine() {
  let shown = ''
  return {
    show({ step, done, total }: DemoProgress): void {
      const isTerminal = process.stderr.isTTY
      const text = isTerminal ? `  ${String(Math.floor((100 * done) / total)).padStart(3)} %  ${step}` : `  ${step}`
      if (text === shown) return
      process.stderr.write(isTerminal ? `\r${text.padEnd(shown.length)}` : `${text}\n`)
      shown = text
    },
    end(): void {
      process.stderr.write(process.stderr.isTTY ? '\n\n' : '\n')
    },
  }
}
