import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { connectionUrl } from '../../server/db/connection-settings.ts'
import { findBinaries, type PostgresBinaries } from '../../server/embedded-postgres/binaries.ts'
import { type Layout, prepareLayout } from '../../server/embedded-postgres/data-directory.ts'
import { bootstrapOwner } from '../../server/embedded-postgres/superuser.ts'
import { freePort } from './free-port.ts'
import { scratchDataDirectory } from './scratch-folder.ts'

const password = 'of-a-pair-that-no-one-will-miss'
const at = { host: '127.0.0.1', ssl: false, options: undefined, password }
const standbyName = 'standby'

/** A primary with a synchronous standby, and one address for both, as a cluster manager has it. */
export interface PostgresPair {
  /** Of the owner and the empty database, at the address of whichever is the primary. */
  readonly url: string
  /** Kills the primary with SIGKILL, promotes the standby, and gives it the address. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const layouts = [await prepareLayout(await scratchDataDirectory()), await prepareLayout(await scratchDataDirectory())]
  const [first, second] = layouts as [Layout, Layout]
  const binaries = await findBinaries(first.user)
  await initialise(first, binaries)
  const ports = [await freePort(), await freePort()] as const
  const primary = await start(first, binaries, ports[0], {
    synchronous_standby_names: standbyName,
    wal_keep_size: '1GB',
  })
  // Without its standby, a commit waits.
  await withSuperuser(ports[0], async (client) => {
    await client.query('set synchronous_commit = local')
    await copyCluster(client, first, second)
  })
  const primaryOfStandby = `host=127.0.0.1 port=${ports[0]} user=postgres password=${password} application_name=${standbyName}`
  const standby = await start(second, binaries, ports[1], { primary_conninfo: primaryOfStandby })
  const proxy = await startProxy(ports[0])
  const owner = { ...at, port: proxy.port, user: 'hub_owner', database: 'hub' }
  await bootstrapOwner({ superuser: { ...at, port: ports[0], user: 'postgres', database: 'postgres' }, owner })
  return {
    url: connectionUrl(owner),
    failOver: async () => {
      await end(primary, 'SIGKILL')
      await withSuperuser(ports[1], (client) => client.query('select pg_promote()'))
      proxy.moveTo(ports[1])
    },
    stop: async () => {
      await proxy.close()
      await Promise.all([end(primary, 'SIGQUIT'), end(standby, 'SIGQUIT')])
      await Promise.all(layouts.map(({ dataDir }) => rm(dataDir, { recursive: true, force: true })))
    },
  }
}

const ownerOf = ({ user }: Layout) => (user ? { uid: user.uid, gid: user.gid } : {})

async function initialise(layout: Layout, { initdb }: PostgresBinaries): Promise<void> {
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

async function start(
  layout: Layout,
  { postgres }: PostgresBinaries,
  port: number,
  settings: Record<string, string>,
): Promise<ChildProcess> {
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

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill(signal)
  await closed
}

async function withSuperuser<Result>(port: number, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ ...at, port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Makes a base backup of a running primary, ready to start as its standby. */
async function copyCluster(client: pg.Client, from: Layout, to: Layout): Promise<void> {
  await client.query("select pg_backup_start('standby', true)")
  await copyFolder(from.cluster, to.cluster, to)
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
  await writeOwned(to, 'backup_label', rows[0]!.labelfile)
  await writeOwned(to, 'standby.signal', '')
}

async function copyFolder(from: string, to: string, layout: Layout): Promise<void> {
  await makeFolder(layout, to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (['postmaster.pid', 'postmaster.opts'].includes(entry.name)) continue
    // The standby fetches the log from the primary.
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

async function makeFolder({ user }: Layout, path: string): Promise<void> {
  await mkdir(path, { mode: 0o700, recursive: true })
  if (user) await chown(path, user.uid, user.gid)
}

async function writeOwned({ cluster, user }: Layout, name: string, text: string): Promise<void> {
  await writeFile(join(cluster, name), text, { mode: 0o600 })
  if (user) await chown(join(cluster, name), user.uid, user.gid)
}

/** An address that passes connections to one port, and to another after a move. */
async function startProxy(firstPort: number) {
  const sockets = new Set<Socket>()
  let target = firstPort
  const server = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as { port: number }).port,
    moveTo(port: number) {
      target = port
      close()
    },
    async close() {
      close()
      server.close()
      await once(server, 'close')
    },
  }
}
