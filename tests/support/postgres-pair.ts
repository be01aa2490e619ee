import { rm } from 'node:fs/promises'
import { connectionUrl } from '../../server/db/connection-settings.ts'
import { freePort } from './free-port.ts'
import {
  copyCluster,
  end,
  initialise,
  makeOwner,
  ownerAt,
  password,
  prepareCluster,
  start,
  withSuperuser,
  writeOwned,
} from './postgres-server.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const standbyName = 'standby'

/** A primary with a synchronous standby, and one address for both, as a cluster manager has it. */
export interface PostgresPair {
  /** Names the owner and the empty database, at the address of the current primary. */
  readonly url: string
  /** Names the same owner and database at the standby, by an address that passes connections to its port. */
  readonly standbyUrl: string
  readonly standbyPort: number
  /** Keeps back all that the standby and its clients send each other, until the returned function is called. */
  stallStandby(): () => void
  /** Runs a statement at the standby as its superuser. */
  onStandby(sql: string): Promise<void>
  /** Ends every wait of a commit at the primary for the standby, as an impatient administrator does. Returns how many. */
  cancelWaits(): Promise<number>
  /** Kills the standby with SIGKILL. */
  killStandby(): Promise<void>
  startStandby(): Promise<void>
  /** Kills the primary with SIGKILL, promotes the standby, and gives it the address. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const [first, second] = [await prepareCluster(), await prepareCluster()]
  const ports = [await freePort(), await freePort()] as const
  await initialise(first)
  const primary = await start(first, ports[0], { synchronous_standby_names: standbyName, wal_keep_size: '1GB' })
  await withSuperuser(ports[0], async (client) => {
    // Without its standby, a commit waits.
    await client.query('set synchronous_commit = local')
    await copyCluster(client, first, second)
  })
  await writeOwned(second, 'standby.signal', '')
  const primaryOfStandby = `host=127.0.0.1 port=${ports[0]} user=postgres password=${password} application_name=${standbyName}`
  const startStandby = () => start(second, ports[1], { primary_conninfo: primaryOfStandby })
  let standby = await startStandby()
  await makeOwner(ports[0])
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: ports[0] })
  const standbyProxy = await startTcpProxy({ host: '127.0.0.1', port: ports[1] })
  return {
    url: connectionUrl(ownerAt(proxy.port)),
    standbyUrl: connectionUrl(ownerAt(standbyProxy.port)),
    standbyPort: ports[1],
    stallStandby: standbyProxy.stall,
    onStandby: (sql) => withSuperuser(ports[1], async (client) => void (await client.query(sql))),
    cancelWaits: () =>
      withSuperuser(ports[0], async (client) => {
        const { rowCount } = await client.query(
          "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
        )
        return rowCount ?? 0
      }),
    killStandby: () => end(standby, 'SIGKILL'),
    startStandby: async () => {
      standby = await startStandby()
    },
    failOver: async () => {
      await end(primary, 'SIGKILL')
      await withSuperuser(ports[1], (client) => client.query('select pg_promote()'))
      proxy.moveTo({ host: '127.0.0.1', port: ports[1] })
    },
    stop: async () => {
      await Promise.all([proxy.close(), standbyProxy.close()])
      await Promise.all([end(primary, 'SIGQUIT'), end(standby, 'SIGQUIT')])
      await Promise.all([first, second].map(({ dataDir }) => rm(dataDir, { recursive: true, force: true })))
    },
  }
}
