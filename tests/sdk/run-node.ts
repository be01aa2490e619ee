import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs Node with arguments, and returns what it printed. Rejects if it fails. */
export function runNode(args: readonly string[], env: Record<string, string> = {}) {
  return run(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { env: { ...process.env, ...env } })
}
