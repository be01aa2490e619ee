import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { atEnd } from '../support/cleanup.ts'

const startMsMax = 30_000

interface Reference {
  url: string
  pid: number
  stop(): Promise<void>
}

/**
 * Starts a reference server in a process of its own, stopped at the end at the latest.
 *
 * @param name the name of its file in this folder
 * @param input the text for its standard input: a connection with its password must not be an argument
 */
export async function startReference(
  name: string,
  input?: unknown,
  nodeOptions: readonly string[] = [],
): Promise<Reference> {
  const child = spawn(process.execPath, [...nodeOptions, join(import.meta.dirname, `${name}.ts`)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill()
    await once(child, 'close')
  }
  atEnd(stop)
  child.stdin.end(input === undefined ? '' : JSON.stringify(input))
  const lines = createInterface(child.stdout)
  const late = AbortSignal.timeout(startMsMax)
  const [line] = (await Promise.race([
    once(lines, 'line', { signal: late }),
    once(child, 'exit').then(() => Promise.reject(new Error(`the reference ${name} ended`))),
  ])) as [string]
  return { url: line, pid: child.pid!, stop }
}
