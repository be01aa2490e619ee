import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../startup-error.ts'
import type { PostgresBinaries } from './binaries.ts'
import type { Layout } from './data-directory.ts'

const run = promisify(execFile)

/** Milliseconds without a change after which a draft belongs to a start that was killed. */
const abandonedDraftMs = 10 * 60_000

/**
 * Creates the database cluster if it does not exist. It is created aside and renamed into place, so that a killed start
 * leaves no half cluster.
 *
 * @throws StartupError if the existing cluster has another major version, or none can be created; an existing cluster
 * stays unchanged
 */
export async function ensureCluster(layout: Layout, binaries: PostgresBinaries, password: string): Promise<void> {
  const version = await clusterVersion(layout)
  if (version === undefined) {
    await removeAbandonedDrafts(layout)
    await createCluster(layout, binaries, password)
  } else if (version !== String(binaries.major)) {
    throw otherVersion(layout, version, binaries.major)
  }
}

async function clusterVersion(layout: Layout): Promise<string | undefined> {
  try {
    return (await readFile(join(layout.cluster, 'PG_VERSION'), 'utf8')).trim()
  } catch (cause) {
    const files = await readdir(layout.cluster).catch(() => [])
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && files.length === 0) return undefined
    throw new StartupError(
      `${layout.cluster} is not a PostgreSQL data directory that this user can read: ${(cause as Error).message}.`,
      'Restore it from a backup, move it away, or set HUB_DATA_DIR to another directory.',
      { cause },
    )
  }
}

function otherVersion(layout: Layout, found: string, wanted: number): StartupError {
  const direction = Number(found) < wanted ? 'older' : 'newer'
  return new StartupError(
    `The data in ${layout.cluster} was written by PostgreSQL ${found}, which is ${direction} than the ${wanted} that comes with this version of the Hub. Nothing was changed.`,
    `Keep the data: with PostgreSQL ${found}, run pg_dumpall on it, move ${layout.cluster} away, start the Hub once so that it makes a new one, stop it, and load the dump with psql. Or start the version of the Hub that wrote it. Or, if the data is not needed, delete ${layout.cluster}.`,
  )
}

async function createCluster(layout: Layout, binaries: PostgresBinaries, password: string): Promise<void> {
  const draft = `${layout.cluster}.new-${randomBytes(6).toString('hex')}`
  const passwordFile = `${draft}.password`
  const owner = layout.user ? { uid: layout.user.uid, gid: layout.user.gid } : {}
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' })
    if (layout.user) {
      await chown(passwordFile, layout.user.uid, layout.user.gid)
      // Only the owner of the data directory can create directories in it, so the server's user gets an empty one to
      // fill.
      await mkdir(draft, { mode: 0o700 })
      await chown(draft, layout.user.uid, layout.user.gid)
    }
    await run(binaries.initdb, initdbArguments(draft, passwordFile), { ...owner, cwd: '/', env: { LC_ALL: 'C' } })
    await rename(draft, layout.cluster)
  } catch (cause) {
    await rm(draft, { recursive: true, force: true })
    // Another start created it meanwhile.
    if ((await clusterVersion(layout).catch(() => undefined)) !== undefined) return
    const { stderr, message } = cause as { stderr?: string; message: string }
    throw new StartupError(
      `The database cannot be made in ${layout.cluster}: ${stderr?.trim() || message}`,
      'Make the data directory writable, with space on its disk, or set HUB_DATA_DIR to another one.',
      { cause },
    )
  } finally {
    await rm(passwordFile, { force: true })
  }
}

function initdbArguments(directory: string, passwordFile: string): string[] {
  return [
    `--pgdata=${directory}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
  ]
}

async function removeAbandonedDrafts(layout: Layout): Promise<void> {
  const names = (await readdir(layout.dataDir)).filter((name) => name.startsWith('pg.new-'))
  for (const name of names) {
    const path = join(layout.dataDir, name)
    const made = await stat(path).catch(() => undefined)
    if (made && Date.now() - made.mtimeMs > abandonedDraftMs) await rm(path, { recursive: true, force: true })
  }
}
