import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { scaled } from '../support/machine-speed.ts'

const root = resolve(import.meta.dirname, '../..')

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a command as a user would: in a process of its own, through the plain launcher. */
export function runCli(args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [join(root, 'cli/hub.js'), ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HUB_METRICS_PORT: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: scaled(180_000),
  })
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    result.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    result.stderr += text
  })
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code) => done({ ...result, code }))
  })
}
