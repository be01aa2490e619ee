import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { connectionUrl } from '../../server/db/connection-settings.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import {
  copyCluster,
  end,
  initialise,
  makeFolder,
  makeOwner,
  ownerAt,
  prepareCluster,
  start,
  withSuperuser,
  writeOwned,
} from '../support/postgres-server.ts'

type Server = Awaited<ReturnType<typeof start>>

let hub: HubProcess | undefined
const servers: Server[] = []
const folders: string[] = []
afterAll(async () => {
  await hub?.stop()
  await Promise.all(servers.map((server) => end(server, 'SIGQUIT')))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  await removeDataDirectories()
})

// The steps of docs/backup.md, "Point-in-time recovery".
test('a database is set back to the moment before a mistake, from a base backup and archived WAL', async () => {
  const [original, restored] = [await prepareCluster(), await prepareCluster()]
  folders.push(original.dataDir, restored.dataDir)
  const archive = join(original.dataDir, 'archive')
  await makeFolder(original, archive)
  await initialise(original)
  const port = await freePort()
  const archiving = { archive_mode: 'on', archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f` }
  servers.push(await start(original, port, archiving))
  await makeOwner(port)

  const env = {
    HUB_DATABASE_URL: connectionUrl(ownerAt(port)),
    HUB_MASTER_KEY: randomBytes(32).toString('base64'),
    HUB_DATA_DIR: await freshDataDirectory(),
  }
  hub = await startHubProcess(env.HUB_DATA_DIR, env)
  const account = await makeAccount(env)
  const client = (url: string) => new HubClient({ baseUrl: url, tenant: 'recovered', ...account })
  const before = await write(client(hub.url), 'before the base backup')
  await withSuperuser(port, (superuser) => copyCluster(superuser, original, restored))
  const after = await write(client(hub.url), 'after the base backup')
  const moment = await withSuperuser(port, async (superuser) => {
    const { rows } = await superuser.query<{ now: string }>('select clock_timestamp()::text as now')
    return rows[0]!.now
  })
  const mistaken = await write(client(hub.url), 'the mistake')
  await hub.stop()
  await withSuperuser(port, (superuser) => superuser.query('select pg_switch_wal()'))
  await expect.poll(() => isArchived(port)).toBe(true)
  await end(servers.pop()!, 'SIGQUIT')
  expect((await readdir(archive)).length).toBeGreaterThan(0)

  await writeOwned(restored, 'recovery.signal', '')
  const recovery = { recovery_target_time: moment, recovery_target_action: 'promote' }
  servers.push(await start(restored, port, { restore_command: `cp ${archive}/%f %p`, ...recovery }))
  await expect.poll(() => isInRecovery(port)).toBe(false)
  const reapplied = await runCli(['restore', '--reapply-erasures', '--json'], env)
  expect(reapplied).toMatchObject({ code: 0 })
  hub = await startHubProcess(env.HUB_DATA_DIR, env)
  for (const recordId of [before, after]) {
    const { verification } = await client(hub.url).records.get(recordId, { verify: true })
    expect(verification).toMatchObject({ verified: true })
  }
  await expect(client(hub.url).records.get(mistaken)).rejects.toMatchObject({ status: 404 })
  const audit = await runCli(['log', 'audit', '--tenant', 'recovered', '--json'], env)
  expect(audit).toMatchObject({ code: 0 })
  await write(client(hub.url), 'after the recovery')
})

async function makeAccount(env: Record<string, string>): Promise<{ clientId: string; clientSecret: string }> {
  const run = async (...args: string[]) => JSON.parse((await runCli([...args, '--json'], env)).stdout)
  await run('tenant', 'create', 'recovered', '--mode', 'A', '--admin-email', 'admin@recovered.example')
  const options = ['--tenant', 'recovered', '--name', 'writer', '--scope', 'hub:read hub:write']
  const { client_id: clientId, client_secret: clientSecret } = await run('service-account', 'create', ...options)
  return { clientId, clientSecret }
}

async function write(client: HubClient, subject: string): Promise<string> {
  const { record_id } = await client.records.write({
    record_type: 'decision',
    decision_id: subject.replaceAll(' ', '-'),
    decision_subject: subject,
    decision_outcome: 'Renew',
    decision_rationale: 'Lowest fees',
    decision_actor_role: 'CFO',
  })
  return record_id
}

function isArchived(port: number): Promise<boolean> {
  return withSuperuser(port, async (superuser) => {
    const { rows } = await superuser.query<{ done: boolean }>(
      `select last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) as done from pg_stat_archiver`,
    )
    return rows[0]!.done === true
  })
}

function isInRecovery(port: number): Promise<boolean> {
  return withSuperuser(port, async (superuser) => {
    const { rows } = await superuser.query<{ waits: boolean }>('select pg_is_in_recovery() as waits')
    return rows[0]!.waits
  })
}
