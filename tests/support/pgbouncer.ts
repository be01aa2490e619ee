import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ConnectionTarget } from '../../server/db/connection-settings.ts'
import { freePort } from './free-port.ts'

const binary = 'pgbouncer'

interface Options {
  poolSize: number
  connectQuery?: string
  auth?: { user: string; password: string; query?: string }
}

/** A PgBouncer in transaction mode before a server, on a port that stays the same when it is started again. */
export class PgBouncer {
  readonly port: number
  readonly #directory: string
  readonly #ids: { uid?: number; gid?: number }
  #child: ChildProcess | undefined

  /**
   * @param superuser of the server; PgBouncer reads the passwords of all roles as this one
   * @param poolSize connections to the server for each role of a database
   * @param connectQuery runs in each new connection to the server
   * @param auth the role that reads passwords, and how; else the superuser does
   */
  static async start(
    superuser: ConnectionTarget,
    { poolSize, connectQuery = '', auth = superuser }: Options,
  ): Promise<PgBouncer> {
    const { status } = spawnSync(binary, ['--version'], { env: pathWithSbin() })
    if (status !== 0) throw new Error('PgBouncer is not installed: apt-get install pgbouncer')
    const directory = await mkdtemp(join(tmpdir(), 'hub-pgbouncer-'))
    const port = await freePort()
    const users = join(directory, 'users.txt')
    await writeFile(users, `"${auth.user}" "${auth.password}"\n`)
    const query = connectQuery && `connect_query='${connectQuery.replaceAll("'", "''")}'`
    await writeFile(
      join(directory, 'pgbouncer.ini'),
      `[databases]
* = host=${superuser.host} port=${superuser.port} ${query}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
auth_user = ${auth.user}
${auth.query === undefined ? '' : `auth_query = ${auth.query}`}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
`,
    )
    // The socket of an embedded server is open to the account of its process only.
    const { uid, gid } = await stat(superuser.host ?? '')
    const ids = process.getuid?.() === 0 ? { uid, gid } : {}
    for (const path of [directory, users, join(directory, 'pgbouncer.ini')]) await chown(path, uid, gid)
    const bouncer = new PgBouncer(port, directory, ids)
    await bouncer.start()
    return bouncer
  }

  private constructor(port: number, directory: string, ids: { uid?: number; gid?: number }) {
    this.port = port
    this.#directory = directory
    this.#ids = ids
  }

  /** The database of this target through PgBouncer. */
  before(target: ConnectionTarget): ConnectionTarget {
    return { ...target, host: '127.0.0.1', port: this.port }
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const options = {
      ...this.#ids,
      cwd: this.#directory,
      env: pathWithSbin(),
      stdio: ['ignore', 'inherit', 'inherit'] as ['ignore', 'inherit', 'inherit'],
    }
    this.#child = spawn(binary, ['-q', join(this.#directory, 'pgbouncer.ini')], options)
    while (!(await accepts(this.port))) {
      if (this.#child.exitCode !== null) throw new Error(`${binary} ended with ${this.#child.exitCode}`)
      await delay(20)
    }
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** Debian installs it where only root looks for commands. */
function pathWithSbin(): Record<string, string> {
  return { PATH: `${process.env.PATH}:/usr/sbin` }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
