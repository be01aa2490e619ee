import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, open, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { StartupError } from '../../startup-error.ts'
import { type ConnectionTarget, clientConfig } from '../connection-settings.ts'
import { type ArchiveWriter, writeArchive } from './archive.ts'
import {
  type BackupHead,
  type BackupPart,
  describePart,
  formatVersion,
  headName,
  manifestName,
  masterKeyCheck,
  partBytesMax,
  partName,
  signManifest,
} from './backup-format.ts'
import { type BackupTable, columnList, findRecordPartitions, findTables } from './backup-tables.ts'

export interface WrittenBackup {
  file: string
  bytes: number
  created_at: string
  tenants: number
  /** The rows of all tables. */
  rows: number
  records: number
}

/**
 * Saves every table of the Hub as of one moment, while the service runs. It reads each tenant's rows under row-level
 * security, one tenant after the other, so nothing about the database is changed for it.
 *
 * @param options.destination a new file, or a directory, in which a file is named after the time
 * @param options.onBytes takes the bytes that were saved so far, before compression
 * @throws StartupError if the file cannot be created
 */
export async function writeBackup(options: {
  owner: ConnectionTarget
  masterKey: Buffer
  hubVersion: string
  destination: string
  onBytes?: (bytes: number) => void
}): Promise<WrittenBackup> {
  const owner = new pg.Client(clientConfig(options.owner, 'hub-backup'))
  owner.on('error', () => {})
  await owner.connect()
  try {
    await owner.query('begin isolation level repeatable read read only')
    const head = await readHead(owner, options)
    const file = await newFile(options.destination, head.created_at)
    const draft = `${file}.${randomBytes(6).toString('hex')}.partial`
    try {
      const counts = await writeInto(draft, owner, head, options)
      // Unlike a rename, a link replaces nothing.
      await link(draft, file)
      await syncDirectory(dirname(file))
      return { file, bytes: (await stat(file)).size, created_at: head.created_at, ...counts }
    } catch (cause) {
      throw explain(cause, file)
    } finally {
      await unlink(draft).catch(() => {})
    }
  } finally {
    await owner.end()
  }
}

type WriteOptions = Pick<Parameters<typeof writeBackup>[0], 'masterKey' | 'onBytes'>

async function writeInto(draft: string, owner: pg.Client, head: BackupHead, options: WriteOptions) {
  // The file is flushed to the disk before it is closed.
  const archive = writeArchive(createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }))
  try {
    const counts = await writeParts(archive, owner, head, options)
    await archive.end()
    return counts
  } catch (error) {
    await archive.abandon()
    throw error
  }
}

async function writeParts(
  archive: ArchiveWriter,
  owner: pg.Client,
  head: BackupHead,
  { masterKey, onBytes }: WriteOptions,
) {
  let saved = 0
  const parts: BackupPart[] = []
  const rows: Record<string, number> = {}
  const add = async (name: string, content: Buffer) => {
    parts.push(describePart(name, content))
    await archive.add(name, content)
    saved += content.length
    onBytes?.(saved)
  }
  await add(headName, Buffer.from(`${JSON.stringify(head, null, 2)}\n`))
  const save = async (table: BackupTable, tenant: string | undefined) => {
    rows[table.name] = (rows[table.name] ?? 0) + (await saveRows(owner, table, tenant, add))
  }
  for (const table of head.tables.filter((each) => !each.per_tenant)) await save(table, undefined)
  const slugs = await owner.query<{ slug: string }>('select slug from hub.tenants order by slug')
  const tenants = slugs.rows.map((row) => row.slug)
  for (const tenant of tenants) {
    await owner.query('select hub.set_tenant($1)', [tenant])
    for (const table of head.tables.filter((each) => each.per_tenant)) await save(table, tenant)
  }
  const manifest = signManifest({ parts, tenants, rows }, masterKey)
  await archive.add(manifestName, Buffer.from(`${JSON.stringify(manifest)}\n`))
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0)
  return { tenants: tenants.length, rows: all, records: rows.records ?? 0 }
}

/** Saves the rows that the owner sees, of one tenant if row-level security applies, and returns their number. */
async function saveRows(
  owner: pg.Client,
  table: BackupTable,
  tenant: string | undefined,
  add: (name: string, content: Buffer) => Promise<void>,
): Promise<number> {
  const where = tenant === undefined ? '' : ` where tenant_id = ${pg.escapeLiteral(tenant)}`
  const copy = owner.query(
    copyTo(`copy (select ${columnList(table.columns)} from hub.${table.name}${where}) to stdout`),
  )
  let number = 0
  let waiting: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    const content = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    await add(partName(table.name, tenant, number++), content)
  }
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    // A row larger than a part continues in the next part.
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + partBytesMax - bytes)
      waiting.push(piece)
      bytes += piece.length
      at += piece.length
      if (bytes === partBytesMax) await flush()
    }
  }
  if (bytes > 0) await flush()
  return copy.rowCount
}

async function readHead(
  owner: pg.Client,
  { masterKey, hubVersion }: { masterKey: Buffer; hubVersion: string },
): Promise<BackupHead> {
  // The first statement of the transaction takes its snapshot at this moment.
  const now = await owner.query<{ now: string }>('select clock_timestamp() as now')
  const migrations = await owner.query<{ name: string; checksum: string }>(
    'select name, checksum from hub.schema_migrations order by version',
  )
  return {
    format: formatVersion,
    hub_version: hubVersion,
    created_at: now.rows[0]!.now,
    master_key_check: masterKeyCheck(masterKey),
    migrations: migrations.rows,
    record_partitions: await findRecordPartitions(owner),
    tables: await findTables(owner),
  }
}

async function newFile(destination: string, createdAt: string): Promise<string> {
  const found = await stat(destination).catch(() => undefined)
  if (found?.isDirectory()) return join(destination, `hub-${createdAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z.tar.gz`)
  if (found === undefined) return destination
  throw new StartupError(`The file ${destination} already exists.`, 'Name a new file, or a directory.')
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}

function explain(cause: unknown, file: string): unknown {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'EEXIST') return new StartupError(`The file ${file} already exists.`, 'Name another one.', { cause })
  if (code === undefined || !/^E[A-Z]+$/.test(code)) return cause
  return new StartupError(
    `The backup ${file} could not be written: ${message}.`,
    'Name a writable location with enough free space.',
    { cause },
  )
}
