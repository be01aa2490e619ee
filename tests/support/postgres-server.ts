import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findBinaries } from '../../server/embedded-postgres/binaries.ts'
import { type Layout, prepareLayout } from '../../server/embedded-postgres/data-directory.ts'
import { bootstrapOwner } from '../../server/embedded-postgres/superuser.ts'
import { scratchDataDirectory } from './scratch-folder.ts'

/** Servers as an operator runs them, of the embedded PostgreSQL: by TCP, with fsync, and with settings of their own. */

export const password = 'of-a-server-that-no-one-will-miss'
const at = { host: '127.0.0.1', ssl: false, options: undefined, password }

/** Makes room for a cluster. The caller removes `dataDir`. */
export async function prepareCluster(): Promise<Layout> {
  return prepareLayout(await scratchDataDirectory())
}

/** Returns the owner's target at a port. {@link makeOwner} creates both. */
export const ownerAt = (port: number) => ({ ...at, port, user: 'hub_owner', database: 'hub' })

/** Creates the owner and its empty database, as docs/operator.md says. */
export async function makeOwner(port: number): Promise<void> {
  await bootstrapOwner({ superuser: { ...at, port, user: 'postgres', database: 'postgres' }, owner: ownerAt(port) })
}

const ownerOf = ({ user }: Layout) => (user ? { uid: user.uid, gid: user.gid } : {})

export async function initialise(layout: Layout): Promise<void> {
  const { initdb } = await findBinaries(layout.user)
  const passwordFile = join(layout.dataDir, 'password')
  await writeFile(passwordFile, password)
  await makeFolder(layout, layout.cluster)
  if (layout.user) await chown(passwordFile, layout.user.uid, layout.user.gid)
  const options = [
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
  ]
  await promisify(execFile)(initdb, [`--pgdata=${layout.cluster}`, ...options], {
    ...ownerOf(layout),
    cwd: '/',
    env: { LC_ALL: 'C' },
  })
}

/** Starts the server of a cluster, and waits until it accepts connections. */
export async function start(layout: Layout, port: number, settings: Record<string, string>): Promise<ChildProcess> {
  const { postgres } = await findBinaries(layout.user)
  const all = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(postgres, ['-D', layout.cluster, ...options], {
    ...ownerOf(layout),
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-10_000)
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended:\n${errors}`)
    const isReady = await withSuperuser(port, (client) => client.query('select 1')).then(
      () => true,
      () => false,
    )
    if (isReady) return child
    await delay(50)
  }
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill(signal)
  await closed
}

export async function withSuperuser<Result>(
  port: number,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ ...at, port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Makes a base backup of a running server. It lacks the write-ahead log, which the restored server must get. */
export async function copyCluster(client: pg.Client, from: Layout, to: Layout): Promise<void> {
  await client.query("select pg_backup_start('base', true)")
  await copyFolder(from.cluster, to.cluster, to)
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
  await writeOwned(to, 'backup_label', rows[0]!.labelfile)
}

async function copyFolder(from: string, to: string, layout: Layout): Promise<void> {
  await makeFolder(layout, to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (['postmaster.pid', 'postmaster.opts'].includes(entry.name)) continue
    if (from.endsWith('/pg_wal') && entry.isFile()) continue
    if (entry.isDirectory()) await copyFolder(source, target, layout)
    else await copyFile(source, target).catch(ignoreVanished)
    if (layout.user && entry.isFile()) await chown(target, layout.user.uid, layout.user.gid).catch(ignoreVanished)
  }
}

/** A server may delete files of relations while they are copied; its log says so. */
function ignoreVanished(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

export async function makeFolder({ user }: Layout, path: string): Promise<void> {
  await mkdir(path, { mode: 0o700, recursive: true })
  if (user) await chown(path, user.uid, user.gid)
}

export async function writeOwned({ cluster, user }: Layout, name: string, text: string): Promise<void> {
  await writeFile(join(cluster, name), text, { mode: 0o600 })
  if (user) await chown(join(cluster, name), user.uid, user.gid)
}
