import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { buildEnvironment } from './config/build-environment.ts'
import type { Config } from './config.ts'

const buildScript = fileURLToPath(new URL('../web/build.ts', import.meta.url))
const outputBytesMax = 1024 * 1024

/** A build of the web UI that runs beside the rest of the start. */
export interface WebUiBuild {
  /** Resolves to the reason of its failure, or undefined. Never rejects. */
  problem: Promise<string | undefined>
  /** Ends the build early, if the start failed elsewhere. */
  stop(): void
}

/**
 * Rebuilds the web UI if it is older than its sources, in a process of its own. Usually it is current, because the
 * installation of the Hub builds it. A failure is logged and does not stop the start. A package and an image contain
 * the built UI without its sources, and nothing is built.
 */
export function beginWebUiBuild(
  { role }: Pick<Config, 'role'>,
  log: Pick<Logger, 'info' | 'warn'>,
  script: string = buildScript,
): WebUiBuild {
  if (role === 'worker' || !existsSync(script)) return { problem: Promise.resolve(undefined), stop: () => {} }
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
    log.warn({ problem: message }, 'the web UI is older than its sources; everything else works')
    resolve(message)
  })
  return { problem, stop: () => stopping.abort() }
}
