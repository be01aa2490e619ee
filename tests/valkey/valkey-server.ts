import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../support/free-port.ts'

/** A Valkey, or Redis, of one's own on a port that stays the same when it is started again, always empty. */
export class ValkeyServer {
  readonly port: number
  readonly #directory: string
  readonly #settings: readonly string[]
  #child: ChildProcess | undefined

  /** @param settings further arguments, such as `--requirepass` */
  static async start(...settings: string[]): Promise<ValkeyServer> {
    const server = new ValkeyServer(await freePort(), await mkdtemp(join(tmpdir(), 'hub-valkey-')), settings)
    await server.start()
    return server
  }

  private constructor(port: number, directory: string, settings: readonly string[]) {
    this.port = port
    this.#directory = directory
    this.#settings = settings
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const child = spawn(
      binary(),
      [
        ...['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#directory],
        ...['--save', '', '--appendonly', 'no', ...this.#settings],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    this.#child = child
    let output = ''
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk)
      if (output.includes('Ready to accept connections')) {
        child.stdout.resume()
        return
      }
    }
    throw new Error(`${binary()} ended:\n${output}`)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** A client of an administrator, to be disconnected. */
  client(): Redis {
    return new Redis(this.url)
  }

  async remove(): Promise<void> {
    await this.kill()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

let found: string | undefined

function binary(): string {
  found ??= ['valkey-server', 'redis-server'].find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
  if (found === undefined)
    throw new Error('neither valkey-server nor redis-server is installed: apt-get install redis-server')
  return found
}
