import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresBinaries } from './binaries.ts'
import type { Layout } from './layout.ts'
import { findPostmaster } from './postmaster-file.ts'

const logBytesMax = 10 * 1024 * 1024
const stopMsMax = 60_000

/**
 * Runs the server and prints its process id. Its standard input is a pipe from the Hub. When the Hub ends for any
 * reason, the pipe ends, and the script shuts the server down. So there is never an orphan.
 */
const watchdog = `
exec 3<&0
"$@" </dev/null >&2 3<&- &
server=$!
echo $server
exec >&-
( read -r _ <&3; kill -INT $server ) &
watcher=$!
wait $server
status=$?
kill $watcher 2>/dev/null
exit $status`

const baseSettings: Readonly<Record<string, string>> = {
  // No TCP port: only a user who can open the socket can try a password.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  max_connections: '200',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  // Compiling a query costs more than any query of the Hub takes.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_checkpoints: 'off',
  log_min_messages: 'warning',
  // Statements contain tenants' data, which must not be logged.
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
}

/** A server process that this process started. */
export interface ServerProcess {
  readonly pid: number
  /** Resolves when the server has ended. */
  readonly exited: Promise<void>
  /** Shuts the server down at once, without waiting for its clients, and waits until it has ended. */
  stop(): Promise<void>
}

export interface LaunchOptions {
  readonly layout: Layout
  readonly binaries: PostgresBinaries
  readonly socketDirectory: string
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/**
 * Starts the server and waits until it accepts connections. After a crash it recovers first, without a time limit.
 *
 * @throws Error with the end of the server's log, if it ends instead
 */
export async function launchServer(options: LaunchOptions): Promise<ServerProcess> {
  const { layout } = options
  await rotateLog(layout.log)
  const logFrom = await sizeOf(layout.log)
  const child = await spawnWatchdog(options)
  let running = true
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve())).then(() => {
    running = false
  })
  const pid = await firstNumber(child)
  while (running) {
    const server = await findPostmaster(layout.cluster)
    if (server?.pid === pid && server.status === 'ready') {
      return { pid, exited, stop: () => stopServer(child, pid, exited) }
    }
    await delay(10)
  }
  const said = (await readFile(layout.log, 'utf8')).slice(logFrom).trim()
  throw new Error(said.split('\n').slice(-5).join('\n') || 'it ended without a word')
}

async function spawnWatchdog({ layout, binaries, socketDirectory, settings }: LaunchOptions): Promise<ChildProcess> {
  const all = { ...baseSettings, ...settings, unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"` }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await open(layout.log, 'a', 0o600)
  try {
    return spawn('/bin/sh', ['-c', watchdog, 'hub-postgres', binaries.postgres, '-D', layout.cluster, ...flags], {
      // The server has a session of its own: Ctrl-C in the terminal reaches only the Hub, which stops the server in
      // order.
      detached: true,
      stdio: ['pipe', 'pipe', log.fd],
      cwd: '/',
      env: { LC_ALL: 'C' },
      ...(layout.user ? { uid: layout.user.uid, gid: layout.user.gid } : {}),
    })
  } finally {
    await log.close()
  }
}

async function firstNumber(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.stdin?.on('error', () => {})
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(Number(text))
    })
    child.once('close', () => resolve(0))
  })
}

async function stopServer(child: ChildProcess, pid: number, exited: Promise<void>): Promise<void> {
  child.stdin?.end()
  const timer = new AbortController()
  const late = await Promise.race([
    exited.then(() => false),
    delay(stopMsMax, true, { signal: timer.signal }).catch(() => false),
  ])
  timer.abort()
  // An immediate shutdown: the next start recovers from the log, as after a power cut.
  if (late) process.kill(pid, 'SIGQUIT')
  await exited
}

async function rotateLog(log: string): Promise<void> {
  if ((await sizeOf(log)) > logBytesMax) await rename(log, `${log}.1`)
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}
