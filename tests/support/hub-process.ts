import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { childPids, isRunning, parentPid, serverPid } from './data-directory.ts'
import { scaled } from './machine-speed.ts'

/** The program of this checkout. */
const ownMain = resolve(import.meta.dirname, '../../cli/main.ts')
const startMsMax = scaled(120_000)
const outputMax = 1_000_000
const run = promisify(execFile)

/** `hub serve` as a process of its own, on its own embedded PostgreSQL and a port that the system chose. */
export interface HubProcess {
  readonly url: string
  readonly pid: number
  /** What it has written to stdout and stderr. */
  output(): string
  /** Kills Hub, watchdog, PostgreSQL and its backends with SIGKILL, as a power cut would. */
  killEverything(): Promise<void>
  /** SIGTERM, and waits until it has ended. */
  stop(): Promise<void>
}

/**
 * @param nodeOptions for this process alone, such as `--cpu-prof`
 * @param port where the system is not to choose: with `HUB_BASE_URL`, `url` is that and not where it listens
 * @param main the program of another checkout
 */
export async function startHubProcess(
  dataDir: string,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
  port = 0,
  main = ownMain,
): Promise<HubProcess> {
  const child = spawn(
    process.execPath,
    [...nodeOptions, main, 'serve', '--port', String(port), '--data-dir', dataDir],
    {
      detached: true,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HUB_LOG_LEVEL: 'warn',
        HUB_METRICS_PORT: 'off',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputMax)
    })
  }
  const url = await addressOf(child)
  return {
    url,
    pid: child.pid!,
    output: () => output,
    killEverything: async () => {
      const doomed = await databaseProcesses(dataDir)
      process.kill(-child.pid!, 'SIGKILL')
      for (const pid of doomed) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
      await ended
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
    },
  }
}

/** The `Hub: <url>` that it prints. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let output = ''
    const fail = (why: string) => failed(new Error(`the Hub ${why}:\n${output}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail('did not start in time')
    }, startMsMax)
    const listen = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000)
      const url = /^Hub: (\S+)$/m.exec(output)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      found(url)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    child.once('close', () => {
      clearTimeout(timer)
      fail('ended')
    })
  })
}

/** The watchdog, the postmaster and its children, in this order: who is killed first starts no other. */
async function databaseProcesses(dataDir: string): Promise<number[]> {
  const server = await serverPid(dataDir)
  return [await parentPid(server), server, ...(await childPids(server))]
}

/** Runs a command with `--json` beside the service of the data directory, and gives what it prints. */
export function hubCommand<Result>(dataDir: string, ...args: string[]): Promise<Result> {
  return hubCommandOf(ownMain, dataDir, ...args)
}

/** Runs a command of another checkout. */
export function hubCommandOf<Result>(main: string, dataDir: string, ...args: string[]): Promise<Result> {
  return commandWith(main, { HUB_DATA_DIR: dataDir }, args)
}

async function commandWith<Result>(main: string, env: Record<string, string>, args: string[]): Promise<Result> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const { stdout } = await run(process.execPath, [main, ...args, '--json'], {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  })
  return JSON.parse(stdout) as Result
}

/** A tenant with the archetype `analyst`, and credentials with which it can write and read records and telemetry, or do what the scopes say. */
export async function makeTenant(
  dataDir: string,
  slug: string,
  scope = 'hub:read hub:write telemetry:read telemetry:write',
  main = ownMain,
  env: Record<string, string> = {},
): Promise<{ tenant: string; clientId: string; clientSecret: string }> {
  const command = <Result>(...args: string[]) => commandWith<Result>(main, { HUB_DATA_DIR: dataDir, ...env }, args)
  await command('tenant', 'create', slug, '--mode', 'A', '--admin-email', `admin@${slug}.example`)
  await command('archetypes', 'set', '--tenant', slug, 'analyst')
  const account = await command<{ client_id: string; client_secret: string }>(
    ...['service-account', 'create', '--tenant', slug, '--name', 'load', '--scope', scope],
  )
  return { tenant: slug, clientId: account.client_id, clientSecret: account.client_secret }
}
