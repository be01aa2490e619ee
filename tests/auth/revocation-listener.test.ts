import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../server/db/database.ts'
import { openPools } from '../../server/db/pooled-database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { scaled } from '../support/machine-speed.ts'
import { startDatabaseGate } from './database-gate.ts'

/** `Database.listen`, by which processes hear of revocations. */

let store: TestDatabase
let superuser: pg.Client
beforeEach(async () => {
  store = await createTestDatabase()
  superuser = await store.superuserClient()
})
afterEach(() => store.drop())

/** Counts how often it is woken, and waits for it. */
function bell() {
  let rings = 0
  return {
    ring: () => {
      rings += 1
    },
    rings: () => rings,
    heard: (count: number) => expect.poll(() => rings, { interval: 5 }).toBeGreaterThanOrEqual(count),
  }
}

const listening = async () => {
  const { rows } = await superuser.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'hub-listen'`,
  )
  return rows.map(({ pid }) => pid)
}

test('wakes when listening begins, and for each notification on its channel alone', async () => {
  const own = bell()
  const other = bell()
  store.database.listen('own', own.ring)
  store.database.listen('"other"; drop table hub.tenants; --', other.ring)
  await Promise.all([own.heard(1), other.heard(1)])
  await superuser.query(`notify own; notify elsewhere`)
  await own.heard(2)
  await superuser.query(`select pg_notify('"other"; drop table hub.tenants; --', 'x')`)
  await other.heard(2)
  expect([own.rings(), other.rings()]).toEqual([2, 2])
})

test('a notification is not sent before its transaction commits', async () => {
  const { ring, rings, heard } = bell()
  store.database.listen('commits', ring)
  await heard(1)
  await superuser.query('begin; notify commits; rollback; begin; notify commits')
  expect(rings()).toBe(1)
  await superuser.query('commit')
  await heard(2)
  expect(rings()).toBe(2)
})

test('a connection that is cut is made anew, and wakes, because some may have been missed', async () => {
  const { ring, heard } = bell()
  store.database.listen('cut', ring)
  await heard(1)
  const [pid] = await listening()
  await superuser.query('select pg_terminate_backend($1)', [pid])
  await heard(2)
  expect(await listening()).not.toEqual([pid])
  await superuser.query('notify cut')
  await heard(3)
})

test('while the database is away it is tried at growing intervals, and said once', async () => {
  const gate = await startDatabaseGate(store.targets.owner)
  const warnings: string[] = []
  const log = { info() {}, error() {}, warn: (_details: object, message: string) => void warnings.push(message) }
  const { app, ingest } = store.targets
  const database = openPools({ app: gate.target(app), ingest: gate.target(ingest), size: 1, log })
  const { ring, heard } = bell()
  gate.shut()
  database.listen('away', ring)
  await expect.poll(() => gate.refusedAt().length, { interval: 10 }).toBeGreaterThan(3)
  expect(warnings).toEqual(['the listener for database notifications failed'])
  // 100, 200, 400 ms lie between the first four.
  const [first = 0, , , fourth = 0] = gate.refusedAt()
  expect(fourth - first).toBeGreaterThan(600)
  gate.open()
  await heard(1)
  await database.close()
  await gate.close()
})

test('it ends with the database, and is not made again', async () => {
  const { app, ingest } = store.targets
  const closed: Database[] = []
  for (const when of ['connecting', 'connected']) {
    const database = openPools({ app, ingest, size: 1 })
    const { ring, heard } = bell()
    database.listen('ends', ring)
    if (when === 'connected') await heard(1)
    await database.close()
    closed.push(database)
  }
  expect(closed).toHaveLength(2)
  await expect.poll(listening, { interval: 10 }).toEqual([])
})

test('it does not keep a process alive', async () => {
  const { app, ingest } = store.targets
  const pools = join(import.meta.dirname, '../../server/db/pooled-database.ts')
  const script = `
    import { openPools } from ${JSON.stringify(pools)}
    const database = openPools({ ...${JSON.stringify({ app, ingest })}, size: 1 })
    const untilListening = setInterval(() => {}, 1000)
    database.listen('alive', () => {
      console.log('listening')
      clearInterval(untilListening)
    })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), scaled(60_000))
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  expect([code, output]).toEqual([0, 'listening\n'])
})
