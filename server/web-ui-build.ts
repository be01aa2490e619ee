import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { buildEnvironment } from './config/build-environment.ts'
import type { Config } from './config.ts'

const buildScript = fileURLToPath(new URL('../web/build.ts', import.meta.url))
const outputBytesMax = 1024 * 1024

/** A build of the web UI that goes on beside what else starts. */
export interface WebUiBuild {
  /** Why it failed, or undefined. Never rejects. */
  problem: Promise<string | undefined>
  /** Ends it early, when the start has failed elsewhere. */
  stop(): void
}

/**
 * Sees to it that the built web UI is that of the sources, in a process of its own. Mostly it is: it is built when the
 * Hub is installed. A failure is logged and does not keep the Hub from starting.
 */
export function beginWebUiBuild(
  { role }: Pick<Config, 'role'>,
  log: Pick<Logger, 'info' | 'warn'>,
  script: string = buildScript,
): WebUiBuild {
  if (role === 'worker') return { problem: Promise.resolve(undefined), stop: () => {} }
  const stopping = new AbortController()
  const { promise: problem, resolve } = Promise.withResolvers<string | undefined>()
  const options = { signal: stopping.signal, maxBuffer: outputBytesMax, env: buildEnvironment() }
  execFile(process.execPath, [script], options, (error, stdout, stderr) => {
    if (stopping.signal.aborted) return resolve(undefined)
    if (error === null) {
      if (stdout !== '') log.info(stdout.trim())
      return resolve(undefined)
    }
    const message = stderr.trim() || error.message
    log.warn({ problem: message }, 'the web UI is not what its sources say; everything else works')
    resolve(message)
  })
  return { problem, stop: () => stopping.abort() }
}
