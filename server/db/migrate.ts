import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../startup-error.ts'
import { erasedSqlBeforeErrorCodes } from './adjustment-sums.ts'
import { migrationLock } from './advisory-locks.ts'
import { migrateJobSchema } from './job-schema.ts'
import { proveExistingAdjustments, proveExistingRows } from './prove-rows.ts'
import { partitionMonthsAhead } from './record-partitions.ts'
import type { RowProofs } from './row-proofs.ts'

/**
 * Milliseconds for which a migration waits for a lock in one attempt. Writers of the table queue behind it meanwhile.
 */
const lockMs = 50
/** Milliseconds between attempts, so that the writers that queued can finish. */
const pauseMs = 250
/** Milliseconds until a migration that gets no lock fails. */
const attemptsMs = 10 * 60_000
// PostgreSQL, appendix A.
const lockNotAvailable = '55P03'

/** The folder with this program's migrations. */
export const migrationsDirectory = join(import.meta.dirname, 'migrations')

interface AppliedRow {
  version: number
  name: string
  checksum: string
}

/**
 * Migrates the schema to this program's version and creates the partitions of the coming months. If several processes
 * call it at once, one works and the others wait. A migration never queues for a lock longer than {@link lockMs}: it is
 * rolled back, and tried again after a pause.
 *
 * @param owner a connection of the database's owner, not in a transaction
 * @param options.proofs proves the rows of a database that is older than the proofs
 * @param options.attemptsMs how long a migration is tried while it gets no lock
 * @returns the names of the migrations that were applied now, and the number of rows of each table that were proven
 * without a check
 * @throws StartupError if the database is newer than the program, was migrated with other files, or if other
 * transactions keep their locks
 */
export async function migrate(
  owner: pg.Client,
  options: { directory?: string | undefined; proofs?: RowProofs; attemptsMs?: number } = {},
): Promise<{ applied: string[]; proven: Record<string, number> }> {
  const migrations = await readMigrations(options.directory ?? migrationsDirectory)
  await owner.query('select pg_advisory_lock($1)', [migrationLock])
  try {
    const done = await readApplied(owner)
    checkHistory(done, migrations)
    const pending = migrations.slice(done.length)
    let proven: Record<string, number> = {}
    for (const migration of pending) proven = { ...proven, ...(await applyInAttempts(owner, migration, options)) }
    await migrateJobSchema(owner)
    await owner.query('select hub.ensure_record_partitions($1)', [partitionMonthsAhead])
    return { applied: pending.map((migration) => fileName(migration)), proven }
  } catch (error) {
    throw explain(error)
  } finally {
    // This fails only if the connection is gone, and the lock with it.
    await owner.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {})
  }
}

/**
 * Creates the schema of the first migrations in an empty database, in the transaction of the caller, for data of the
 * same age. The next {@link migrate} applies the rest.
 */
export async function migrateWithin(owner: pg.Client, count: number): Promise<void> {
  const migrations = await readMigrations(migrationsDirectory)
  await owner.query(makeHistory)
  for (const migration of migrations.slice(0, count)) await applyWithin(owner, migration)
}

/**
 * Requires that the migrations of a backup are the first migrations of this program, in order.
 *
 * @throws StartupError if they go beyond this program's, or differ
 */
export async function requireKnown(done: readonly Pick<AppliedRow, 'name' | 'checksum'>[]): Promise<void> {
  checkHistory(
    done.map((row, index) => ({ ...row, version: index + 1 })),
    await readMigrations(migrationsDirectory),
    'backup',
  )
}

const makeHistory = `
  create schema if not exists hub;
  create table if not exists hub.schema_migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`

async function readApplied(owner: pg.Client): Promise<AppliedRow[]> {
  await owner.query(makeHistory)
  const { rows } = await owner.query<AppliedRow>(
    'select version, name, checksum from hub.schema_migrations order by version',
  )
  return rows
}

function checkHistory(done: AppliedRow[], migrations: Migration[], of: 'database' | 'backup' = 'database'): void {
  const fix =
    of === 'database'
      ? 'Nothing was changed. Start the version of the Hub that last used this database, or a later one; or ' +
        'restore a backup into an empty database.'
      : 'Nothing was changed. Restore it with the version of the Hub that created it, or a later one.'
  if (done.length > migrations.length) {
    throw new StartupError(
      `The ${of} is newer than this version of the Hub: it has the unknown migration ${done.at(-1)?.name}.`,
      fix,
    )
  }
  for (const [index, row] of done.entries()) {
    const migration = migrations[index]
    if (migration?.version === row.version && migration.checksum === row.checksum) continue
    // For developers: an applied migration never changes; a further change needs a new file.
    throw new StartupError(
      `The ${of} was migrated by another version of the Hub: its migration ${fileName(row)} differs from the one of this version.`,
      fix,
    )
  }
}

/**
 * These migrations add the proofs of existing rows, once. After a crash neither the columns nor a part of the proofs
 * remain.
 */
const provingMigrations: Record<string, (owner: pg.ClientBase, proofs: RowProofs) => Promise<Record<string, number>>> =
  {
    'row-proofs': proveExistingRows,
    // The column of error codes, which is null for older rows, comes later.
    'adjustment-proofs': (owner, proofs) => proveExistingAdjustments(owner, proofs, erasedSqlBeforeErrorCodes),
  }

async function applyInAttempts(
  owner: pg.Client,
  migration: Migration,
  options: { proofs?: RowProofs; attemptsMs?: number },
): Promise<Record<string, number>> {
  const endMs = performance.now() + (options.attemptsMs ?? attemptsMs)
  for (;;) {
    try {
      return await apply(owner, migration, options.proofs)
    } catch (error) {
      if ((error as pg.DatabaseError).code !== lockNotAvailable) throw error
      if (performance.now() >= endMs) {
        throw new StartupError(
          `The migration ${fileName(migration)} got no lock: another transaction keeps a table that it changes.`,
          'Nothing was changed. Find that transaction in pg_stat_activity (a long query, a dump or an autovacuum), let it ' +
            'end or end it, and start the Hub again.',
          { cause: error },
        )
      }
      await delay(pauseMs)
    }
  }
}

async function apply(
  owner: pg.Client,
  migration: Migration,
  proofs: RowProofs | undefined,
): Promise<Record<string, number>> {
  await owner.query('begin')
  try {
    await owner.query(`set local lock_timeout = ${lockMs}`)
    await applyWithin(owner, migration)
    const proven = (proofs && (await provingMigrations[migration.name]?.(owner, proofs))) ?? {}
    await owner.query('commit')
    return proven
  } catch (cause) {
    await owner.query('rollback').catch(() => {})
    const { position, code } = cause as pg.DatabaseError
    const line = position ? ` in line ${migration.sql.slice(0, Number(position)).split('\n').length}` : ''
    const error = new Error(`migration ${fileName(migration)} failed${line}: ${(cause as Error).message}`, { cause })
    throw Object.assign(error, { code })
  }
}

async function applyWithin(owner: pg.Client, migration: Migration): Promise<void> {
  await owner.query(migration.sql)
  await owner.query('insert into hub.schema_migrations (version, name, checksum) values ($1, $2, $3)', [
    migration.version,
    migration.name,
    migration.checksum,
  ])
}

/** Explains a missing privilege, the one failure that an operator can solve; returns other errors unchanged. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || (error as pg.DatabaseError).code !== '42501') return error
  return new StartupError(
    `The database user lacks permission to create the schema: ${error.message}.`,
    'HUB_DATABASE_URL must name the owner of the database. As an administrator, run: alter database NAME owner to USER;',
    { cause: error },
  )
}

function fileName(migration: Pick<Migration, 'version' | 'name'>): string {
  return `${String(migration.version).padStart(4, '0')}-${migration.name}`
}

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file in hexadecimal; it reveals a later change. */
  readonly checksum: string
}

/**
 * Reads the migrations of a directory, `NNNN-name.sql`, in order.
 *
 * @throws Error if a number is missing or used twice
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const [, number, name] = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file) ?? []
      if (number === undefined || name === undefined || Number(number) !== index + 1) {
        throw new Error(`migration ${file} should be number ${String(index + 1).padStart(4, '0')}`)
      }
      const sql = await readFile(join(directory, file), 'utf8')
      return { version: index + 1, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
