import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileProblem, StartupError } from '../../server/startup-error.ts'

/**
 * The spool is an SQLite database. A finished transaction is on the disk as a whole. A kill or a power cut leaves an
 * unfinished transaction, which the next start discards by the checksums of the write-ahead log. Several processes may
 * open it: the forwarder, and commands that inspect it.
 */
const schema = `
  create table if not exists binding (name text primary key, value text not null) strict;
  -- batch_id is null until the event is part of a request.
  create table if not exists events (
    sequence integer primary key autoincrement,
    event text not null,
    accepted_ms integer not null,
    batch_id integer
  ) strict;
  create index if not exists events_of_batch on events (batch_id, sequence);
  -- A request to the Hub: its key was made once, for exactly its events. doubtful_*: between the first and the last
  -- time it was sent without an answer that says whether it was taken, by the Hub's clock.
  create table if not exists batches (
    id integer primary key autoincrement,
    key text not null unique,
    attempts integer not null default 0,
    client_id text,
    doubtful_since_ms integer,
    doubtful_until_ms integer,
    uncertain_because text
  ) strict;
  -- What the Hub has said it will not take, and why.
  create table if not exists refused (
    sequence integer primary key,
    event text not null,
    accepted_ms integer not null,
    refused_ms integer not null,
    slug text not null,
    status integer not null,
    detail text not null
  ) strict;
  create table if not exists producer_keys (
    key_digest blob primary key,
    request_digest blob not null,
    answer text not null,
    accepted_ms integer not null
  ) strict;
  create index if not exists producer_keys_by_age on producer_keys (accepted_ms);
  create table if not exists counters (name text primary key, value integer not null) strict;
`

const schemaVersion = 1
const busyMs = 10_000
const walBytesKept = 16 * 1024 * 1024

// sqlite.org/rescode.html: the primary code is the lowest byte.
const sqliteBusy = 5
const sqliteNotADatabase = 26
const sqliteCorrupt = 11

export interface SpoolLock {
  release(): void
}

export type Counter = 'accepted' | 'forwarded' | 'refused' | 'dropped'

/** Returns the result code of an SQLite error, or undefined for any other error. */
function sqliteCode(error: unknown): number | undefined {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return code === 'ERR_SQLITE_ERROR' && errcode !== undefined ? errcode & 0xff : undefined
}

/**
 * Opens the spool of a directory; creates it if `make` is set.
 *
 * @throws StartupError if it is absent, unreadable or of another version
 */
export function openSpoolDatabase(directory: string, options: { make: boolean }): DatabaseSync {
  const file = join(directory, 'spool.sqlite')
  try {
    if (options.make) mkdirSync(directory, { recursive: true, mode: 0o700 })
    else closeSync(openSync(file, 'r'))
  } catch (cause) {
    throw new StartupError(
      options.make
        ? `The spool directory ${directory} cannot be made: ${fileProblem(cause)}.`
        : `There is no spool in ${directory}: ${fileProblem(cause)}.`,
      'Name the directory with --spool.',
      { cause },
    )
  }
  try {
    const database = new DatabaseSync(file, { timeout: busyMs })
    database.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = ${walBytesKept}`)
    prepareSchema(database, directory)
    if (options.make) syncDirectory(directory)
    return database
  } catch (error) {
    throw describeDamage(error, directory)
  }
}

function prepareSchema(database: DatabaseSync, directory: string): void {
  const found = Number(database.prepare('pragma user_version').get()?.user_version)
  if (found > schemaVersion) {
    throw new StartupError(
      `The spool in ${directory} was made by a newer version of the connector.`,
      'Run that version, or let it forward everything and name another directory with --spool.',
    )
  }
  if (found < schemaVersion) {
    inTransaction(database, () => {
      database.exec(schema)
      database.exec(`pragma user_version = ${schemaVersion}`)
    })
  }
}

/** Syncs the directory, so that the files survive a power cut. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function describeDamage(error: unknown, directory: string): unknown {
  const code = sqliteCode(error)
  if (code !== sqliteNotADatabase && code !== sqliteCorrupt) return error
  return new StartupError(
    `The spool in ${directory} is damaged: ${(error as Error).message}.`,
    'Keep a copy of its files and name another directory with --spool; the sqlite3 command’s .recover reads what is left.',
    { cause: error },
  )
}

/**
 * Locks the spool for this process until it ends, even by a crash: the kernel holds the lock.
 *
 * @throws StartupError if another process holds it
 */
export function lockSpool(directory: string): SpoolLock {
  return lockFile(join(directory, 'lock.sqlite'), {
    message: `Another hub connector works with the spool in ${directory}.`,
    fix: 'Stop it, or give this one a spool of its own with --spool.',
  })
}

/**
 * Locks a file until it is released or this process ends.
 *
 * @throws StartupError with the message and its fix if another process has the lock
 */
export function lockFile(path: string, { message, fix }: { message: string; fix: string }): SpoolLock {
  const lock = new DatabaseSync(path)
  try {
    // Writes nothing, so no journal file is needed.
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock.close()
    if (sqliteCode(error) !== sqliteBusy) throw error
    throw new StartupError(message, fix, { cause: error })
  }
  return { release: () => lock.close() }
}

/** Runs `work` in one transaction that is on the disk on return; an error rolls it back. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('begin immediate')
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    // SQLite itself rolls back if the disk is full.
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

/** Adds to a counter that survives restarts. */
export function count(database: DatabaseSync, counter: Counter, by: number): void {
  database
    .prepare('insert into counters values (?, ?) on conflict (name) do update set value = value + excluded.value')
    .run(counter, by)
}

/**
 * Binds a spool to the tenant and the Hub of its events; a later start must name the same. The address of the Hub may
 * change freely only while no request is without a response, because another Hub would not know its key.
 *
 * @param moved true if the operator states that it is the same Hub at another address
 * @throws StartupError
 */
export function bindSpool(database: DatabaseSync, tenant: string, hubUrl: string, moved: boolean): void {
  inTransaction(database, () => {
    const bound = Object.fromEntries(
      database
        .prepare('select name, value from binding')
        .all()
        .map(({ name, value }) => [name, value]),
    )
    if (bound.tenant !== undefined && bound.tenant !== tenant) {
      throw new StartupError(
        `The spool holds events of tenant ${bound.tenant}, not of ${tenant}.`,
        'Name that tenant with --tenant, or another directory with --spool.',
      )
    }
    if (bound.hub_url !== undefined && bound.hub_url !== hubUrl && !moved && hasDoubtfulBatch(database)) {
      throw new StartupError(
        `The spool has a request that ${bound.hub_url} may or may not have taken, so it cannot go to ${hubUrl} yet.`,
        'Add --hub-moved when it is the same Hub at a new address; else run with the former --hub-url until nothing is pending.',
      )
    }
    const bind = database.prepare(
      'insert into binding values (?, ?) on conflict (name) do update set value = excluded.value',
    )
    bind.run('tenant', tenant)
    bind.run('hub_url', hubUrl)
  })
}

function hasDoubtfulBatch(database: DatabaseSync): boolean {
  return database.prepare('select 1 from batches where doubtful_since_ms is not null limit 1').get() !== undefined
}
