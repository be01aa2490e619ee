import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readdir, readFile, readlink, realpath, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresBinaries } from './binaries.ts'
import type { Layout } from './data-directory.ts'

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
  // Whole pages, written after each checkpoint, take a third. It costs no measurable time.
  wal_compression: 'on',
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
  /** Resolves when the server has ended. */
  readonly exited: Promise<void>
  /** Shuts the server down at once, without waiting for its clients, and waits until it has ended. */
  stop(): Promise<void>
}

interface LaunchOptions {
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
  const logBytes = await stat(layout.log).then(
    ({ size }) => size,
    () => 0,
  )
  const isLarge = logBytes > logBytesMax
  if (isLarge) await rename(layout.log, `${layout.log}.1`)
  const log = await open(layout.log, 'a', 0o600)
  const child = spawnWatchdog(options, log.fd)
  // Listens before anything else is awaited: a server that ends at once says so only once.
  let running = true
  const exited = once(child, 'close').then(() => {
    running = false
  })
  const printed = Promise.race([once(child.stdout as Readable, 'data'), exited.then(() => [''])])
  child.stdin?.on('error', () => {})
  await log.close()
  const [output] = await printed
  const pid = Number(output)
  while (running) {
    const server = await findPostmaster(layout.cluster)
    if (server?.pid === pid && server.status === 'ready') {
      return { exited, stop: () => stopServer(child, pid, exited) }
    }
    await delay(10)
  }
  const logged = (await readFile(layout.log))
    .subarray(isLarge ? 0 : logBytes)
    .toString()
    .trim()
  throw new Error(logged.split('\n').slice(-5).join('\n') || 'it ended without a message')
}

function spawnWatchdog({ layout, binaries, socketDirectory, settings }: LaunchOptions, log: number): ChildProcess {
  const all = { ...baseSettings, ...settings, unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"` }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return spawn('/bin/sh', ['-c', watchdog, 'hub-postgres', binaries.postgres, '-D', layout.cluster, ...flags], {
    // The server has a session of its own: Ctrl-C in the terminal reaches only the Hub, which stops the server in order.
    detached: true,
    stdio: ['pipe', 'pipe', log],
    cwd: '/',
    env: { LC_ALL: 'C' },
    ...(layout.user && { uid: layout.user.uid, gid: layout.user.gid }),
  })
}

async function stopServer(child: ChildProcess, pid: number, exited: Promise<void>): Promise<void> {
  child.stdin?.end()
  // An immediate shutdown: the next start recovers from the log, as after a power cut.
  const timer = setTimeout(() => signalServer(pid, 'SIGQUIT'), stopMsMax)
  await exited
  clearTimeout(timer)
}

/** Signals a server; one that has ended gets nothing. */
export function signalServer(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The contents of `postmaster.pid` of a running server. */
export interface Postmaster {
  readonly pid: number
  readonly socketDirectory: string
  readonly port: number
  readonly status: 'starting' | 'ready' | 'stopping'
}

/** Lines of postmaster.pid (PostgreSQL: src/include/utils/pidfile.h). */
const line = { pid: 0, port: 3, socketDirectory: 4, status: 7 }

/** Returns the server that runs on a cluster, or undefined if none does, regardless of a stale file. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n')
  const pid = Math.abs(Number(lines[line.pid]))
  if (!pid || !(await isServerOf(cluster, pid))) return undefined
  const status = lines[line.status]?.trim()
  return {
    pid,
    socketDirectory: lines[line.socketDirectory]?.trim() ?? '',
    port: Number(lines[line.port]) || 5432,
    status: status === 'ready' || status === 'stopping' ? status : 'starting',
  }
}

/**
 * Returns whether a process is the server: its working directory is its cluster. Without /proc, every living process
 * counts.
 */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  if (process.platform !== 'linux') return true
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  if (name.trim() !== 'postgres') return false
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return directory === undefined || directory === (await realpath(cluster))
}

/**
 * Returns whether a process still works in the cluster. Backends outlive a killed postmaster briefly; a second server
 * beside them would ruin the data.
 */
export async function hasProcessIn(cluster: string): Promise<boolean> {
  const directory = await realpath(cluster)
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)))
  return places.includes(directory)
}
