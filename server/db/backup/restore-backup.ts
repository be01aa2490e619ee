import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { StartupError } from '../../startup-error.ts'
import { migrationLock } from '../advisory-locks.ts'
import { migrateWithin, requireKnown } from '../migrate.ts'
import { readArchive, unreadable } from './archive.ts'
import {
  type BackupHead,
  type BackupManifest,
  type BackupPart,
  describePart,
  formatVersion,
  headName,
  isManifestAuthentic,
  isMasterKeyOf,
  manifestName,
  partBytesMax,
  readPartName,
} from './backup-format.ts'
import { columnList, findTables, makeRecordPartitions } from './backup-tables.ts'

/** Head and manifest are larger than a part if there are very many parts. */
const entryBytesMax = Math.max(partBytesMax, 256 * 1024 * 1024)

export interface RestoredBackup {
  created_at: string
  hub_version: string
  tenants: string[]
  rows: number
  records: number
  /** The number of records that were erased before the backup was made. */
  tombstones: number
}

/**
 * Reads the head of a backup.
 *
 * @throws StartupError if the file is no backup, has a later format, or was made under another master key
 */
export async function readBackupHead(file: string, masterKey: Buffer): Promise<BackupHead> {
  for await (const { name, content } of readArchive(file, entryBytesMax)) {
    if (name !== headName) break
    const head: BackupHead = JSON.parse(content.toString('utf8'))
    if (head.format !== formatVersion) {
      throw new StartupError(
        `The backup ${file} was created by Hub ${head.hub_version}, in a format that this version does not support.`,
        'Restore it with that version of the Hub or a later one.',
      )
    }
    if (!isMasterKeyOf(head, masterKey)) {
      throw new StartupError(
        `The backup ${file} was created with a different master key.`,
        'Set the HUB_MASTER_KEY of the backup, or put its file master.key into the data directory: without it, no ' +
          'secret in the backup can be decrypted.',
      )
    }
    return head
  }
  throw unreadable(file, new Error('it does not start with the header of a backup'))
}

interface RestoreOptions {
  beforeCommit?: (restored: RestoredBackup) => Promise<void>
  onBytes?: (bytes: number) => void
}

/**
 * Loads a backup into a database without tenants, in one transaction: all of it, or nothing if a part of it is wrong.
 * The transaction also creates the schema of the backup's version; the next start applies later migrations.
 *
 * @param owner a connection of the database's owner, not in a transaction
 * @param options.beforeCommit may still reject the restore by throwing
 * @param options.onBytes takes the bytes that were loaded so far, before compression
 * @throws StartupError
 */
export async function restoreBackup(
  owner: pg.Client,
  file: string,
  masterKey: Buffer,
  options: RestoreOptions = {},
): Promise<RestoredBackup> {
  const head = await readBackupHead(file, masterKey)
  await requireKnown(head.migrations)
  await owner.query('select pg_advisory_lock($1)', [migrationLock])
  try {
    await requireNoTenants(owner)
    await owner.query('begin')
    try {
      const restored = await loadAll(owner, file, head, { masterKey, onBytes: options.onBytes })
      await options.beforeCommit?.(restored)
      await owner.query('commit')
      for (const { name } of head.tables) await owner.query(`analyze hub.${name}`)
      return restored
    } catch (error) {
      await owner.query('rollback').catch(() => {})
      throw error
    }
  } finally {
    await owner.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {})
  }
}

/**
 * Requires a database without tenants.
 *
 * @throws StartupError if a Hub already uses the database
 */
export async function requireNoTenants(owner: pg.Client): Promise<void> {
  const there = await owner.query<{ found: boolean }>(`select to_regclass('hub.tenants') is not null as found`)
  if (!there.rows[0]?.found) return
  const { rows } = await owner.query<{ slug: string }>('select slug from hub.tenants order by slug limit 1')
  if (rows.length === 0) return
  throw new StartupError(
    `The database already contains a Hub, with the tenant ${rows[0]!.slug}.`,
    'Restore into an empty database (HUB_DATABASE_URL) or a new data directory (HUB_DATA_DIR), and then use that.',
  )
}

interface LoadOptions {
  masterKey: Buffer
  onBytes: RestoreOptions['onBytes']
}

async function loadAll(
  owner: pg.Client,
  file: string,
  head: BackupHead,
  options: LoadOptions,
): Promise<RestoredBackup> {
  // Without tenants the schema contains only token keys, which those of the backup replace.
  await owner.query('drop schema if exists hub cascade')
  await migrateWithin(owner, head.migrations.length)
  await makeRecordPartitions(owner, head.record_partitions)
  const tables = head.tables.filter((table) => table.per_tenant).map((table) => table.name)
  // PostgreSQL refuses COPY into a table while row-level security applies to the user, as it does to the owner if
  // forced.
  await requireSameTables(owner, head, file)
  for (const table of tables) await owner.query(`alter table hub.${table} no force row level security`)
  const manifest = await loadParts(owner, file, head, options)
  for (const table of tables) await owner.query(`alter table hub.${table} force row level security`)
  return {
    created_at: head.created_at,
    hub_version: head.hub_version,
    tenants: manifest.tenants,
    rows: Object.values(manifest.rows).reduce((sum, count) => sum + count, 0),
    records: manifest.rows.records ?? 0,
    tombstones: manifest.rows.tombstones ?? 0,
  }
}

/** Validates the names, because they become part of statements. */
async function requireSameTables(owner: pg.Client, head: BackupHead, file: string): Promise<void> {
  const here = new Map((await findTables(owner)).map((table) => [table.name, table]))
  for (const { name, columns, per_tenant } of head.tables) {
    const table = here.get(name)
    if (table?.per_tenant === per_tenant && columns.every((column) => table.columns.includes(column))) continue
    throw unreadable(file, new Error(`its table ${name} is not the one of its migrations`))
  }
}

async function loadParts(
  owner: pg.Client,
  file: string,
  head: BackupHead,
  { masterKey, onBytes }: LoadOptions,
): Promise<BackupManifest> {
  let loaded = 0
  const columnsOf = new Map(head.tables.map((table) => [table.name, table.columns]))
  const parts: BackupPart[] = []
  const rows: Record<string, number> = {}
  let copy: { table: string; tenant: string | undefined; stream: Writable & { rowCount: number } } | undefined
  let manifest: BackupManifest | undefined

  const endCopy = async () => {
    if (copy === undefined) return
    const { stream, table } = copy
    copy = undefined
    stream.end()
    await finished(stream)
    rows[table] = (rows[table] ?? 0) + stream.rowCount
  }
  try {
    for await (const { name, content } of readArchive(file, entryBytesMax)) {
      if (manifest) throw unreadable(file, new Error(`data follows its end: ${name}`))
      if (name === manifestName) {
        manifest = JSON.parse(content.toString('utf8')) as BackupManifest
        continue
      }
      parts.push(describePart(name, content))
      loaded += content.length
      onBytes?.(loaded)
      if (name === headName) continue
      const place = readPartName(name)
      const columns = place && columnsOf.get(place.table)
      if (!place || !columns) throw unreadable(file, new Error(`its entry ${name} does not belong to a backup`))
      if (copy?.table !== place.table || copy.tenant !== place.tenant) {
        await endCopy()
        const stream = owner.query(copyFrom(`copy hub.${place.table} (${columnList(columns)}) from stdin`))
        // `write` and the end of the copy report the error.
        stream.on('error', () => {})
        copy = { ...place, stream }
      }
      await write(copy.stream, content)
    }
    await endCopy()
  } catch (error) {
    if (copy) await abandon(copy.stream)
    throw error instanceof StartupError ? error : unreadable(file, error)
  }
  requireWhole(file, manifest, { parts, rows }, masterKey)
  return manifest!
}

/** Ends the statement, so that the connection accepts others. */
async function abandon(stream: Writable): Promise<void> {
  if (stream.destroyed) return
  stream.destroy()
  await new Promise((done) => stream.once('close', done))
}

function requireWhole(
  file: string,
  manifest: BackupManifest | undefined,
  found: { parts: BackupPart[]; rows: Record<string, number> },
  masterKey: Buffer,
): void {
  const fail = (message: string) => unreadable(file, new Error(message))
  if (manifest === undefined) throw fail('its end is missing: the file was truncated')
  if (!isManifestAuthentic(manifest, masterKey)) throw fail('its manifest was changed')
  manifest.parts.forEach((part, i) => {
    const here = found.parts[i]
    if (here?.name !== part.name) throw fail(`its part ${part.name} is missing or misplaced`)
    if (here.bytes !== part.bytes || here.sha256 !== part.sha256) throw fail(`its part ${part.name} was changed`)
  })
  if (found.parts.length > manifest.parts.length) throw fail(`its part ${found.parts.at(-1)?.name} was added`)
  for (const [table, count] of Object.entries(manifest.rows)) {
    if ((found.rows[table] ?? 0) !== count)
      throw fail(`it contains ${found.rows[table] ?? 0} of ${count} rows of ${table}`)
  }
}

/** Resolves once there is room for more; throws the error of the statement. */
async function write(stream: Writable, content: Buffer): Promise<void> {
  await new Promise<void>((done, fail) => {
    stream.once('error', fail)
    stream.write(content, (error) => {
      stream.off('error', fail)
      if (error) fail(stream.errored ?? error)
      else done()
    })
  })
}
