import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Config, loadConfig, packageVersion } from '../../server/config.ts'
import { type RestoredBackup, requireNoTenants, restoreBackup } from '../../server/db/backup/restore-backup.ts'
import { writeBackup } from '../../server/db/backup/write-backup.ts'
import { findMasterKey } from '../../server/db/master-key.ts'
import { withOwnerAlone } from '../../server/db/open-owner.ts'
import { StartupError } from '../../server/startup-error.ts'
import { backupSpace } from '../../server/storage/disk-space.ts'
import { hasCluster } from '../doctor/examined-database.ts'

export interface MovedDatabase extends Pick<RestoredBackup, 'tenants' | 'rows' | 'records'> {
  /** The folder of the embedded database, which nothing uses any more. */
  kept: string
}

type Show = (progress: { step: string; done: number; total: number }) => void

/**
 * Moves the embedded database of the data directory to the empty one of `HUB_DATABASE_URL`, while no Hub runs on either.
 * The copy is one transaction. If anything fails before its end, the embedded database stays in use. After it, the folder
 * of the embedded database is renamed, so that no Hub starts on it by mistake.
 *
 * @throws StartupError for every problem that an operator can solve
 */
export async function moveDatabase(show: Show): Promise<MovedDatabase> {
  const target = loadConfig()
  const source: Config = { ...target, databaseUrl: undefined, databaseDirectUrl: undefined, databaseReadUrl: undefined }
  const masterKey = await requireSource(target)
  const log = pino({ level: target.logLevel === 'info' ? 'warn' : target.logLevel }, pino.destination(2))
  await withOwnerAlone(target, masterKey, log, requireNoTenants)
  await backupSpace(source.dataDir, source).requireRoom()

  const file = join(source.dataDir, `move-${process.pid}.tar.gz`)
  try {
    let total = 0
    await withOwnerAlone(source, masterKey, log, async (_, owner) => {
      await removeLeftBehind(source)
      await writeBackup({
        ...{ owner, masterKey, hubVersion: packageVersion(), destination: file },
        onBytes: (bytes) => {
          total = bytes
          show({ step: `Read ${mebibytes(bytes)}`, done: 0, total: 0 })
        },
      })
    })
    const { tenants, rows, records } = await withOwnerAlone(target, masterKey, log, (owner) =>
      restoreBackup(owner, file, masterKey, {
        onBytes: (bytes) =>
          show({
            step: `Written ${mebibytes(bytes)} of ${mebibytes(total)}`,
            done: bytes,
            total: Math.max(total, bytes),
          }),
      }),
    )
    return { tenants, rows, records, kept: await putAside(source) }
  } finally {
    await rm(file, { force: true })
  }
}

async function requireSource(config: Config): Promise<Buffer> {
  if (config.databaseUrl === undefined) {
    throw new StartupError(
      'HUB_DATABASE_URL is not set, so there is nowhere to move the database to.',
      'Set it to an empty database of the other server, as docs/operator.md describes.',
    )
  }
  const masterKey = await findMasterKey(config)
  if (masterKey !== undefined && hasCluster(config)) return masterKey
  throw new StartupError(
    `There is no embedded database with its master key in ${config.dataDir}.`,
    'Set HUB_DATA_DIR to the data directory of the Hub.',
  )
}

/** Removes the copies of moves that were killed: they contain records in clear. */
async function removeLeftBehind({ dataDir }: Config): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => /^move-\d+\.tar\.gz/.test(name))
  await Promise.all(names.map((name) => rm(join(dataDir, name), { force: true })))
}

async function putAside({ dataDir }: Config): Promise<string> {
  const from = join(dataDir, 'pg')
  const to = `${from}.moved-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  try {
    await rename(from, to)
  } catch (cause) {
    throw new StartupError(
      `The database was moved, but ${from} cannot be renamed: ${(cause as Error).message}.`,
      `Rename it yourself, and start the Hub with HUB_DATABASE_URL only: what is written to ${from} from now on is lost.`,
      { cause },
    )
  }
  return to
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20).toLocaleString('en-US')} MiB`
