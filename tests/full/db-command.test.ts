import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectionUrl } from '../../server/db/connection-settings.ts'
import { runCli } from '../cli/run-cli.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
let directory: string
let env: Record<string, string>
beforeAll(async () => {
  db = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'hub-db-'))
  env = { HUB_DATABASE_URL: db.url, HUB_MASTER_KEY: db.masterKey.toString('base64'), HUB_DATA_DIR: directory }
})
afterAll(async () => {
  await db.drop()
  await rm(directory, { recursive: true, force: true })
})

test('db status prints lines for people, and one JSON object', async () => {
  const { code, stdout } = await runCli(['db', 'status'], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Server {7}PostgreSQL \d.*, without Citus\nDistributed {2}nothing: all \d+ tenant tables/)
  expect(stdout).toMatch(/\nSize {9}[\d,]+\.\d MiB\n/)
  expect(stdout).toMatch(/\n {2}rule 15 {2}server\/db\/ingest-script\.ts: /)

  const json = await runCli(['db', 'status', '--json'], env)
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(json.stdout)).toMatchObject({ distributed: false, citus: null, nodes: [] })
})

test('db distribute refuses without the extension with exit code 1', async () => {
  const { code, stdout } = await runCli(['db', 'distribute'], env)
  expect(code).toBe(1)
  expect(stdout).toMatch(/^Nothing was changed\. The database cannot be distributed:\nproblem {2}extension: /)

  const json = await runCli(['db', 'distribute', '--json'], env)
  expect(json).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(json.stdout)).toMatchObject({ distributed: false, blockers: expect.any(Array) })
})

test('both refuse a database without the schema, and a data directory without a database', async () => {
  const url = connectionUrl({ ...db.targets.owner, database: 'postgres' })
  const empty = await runCli(['db', 'status', '--json'], { ...env, HUB_DATABASE_URL: url })
  expect(empty).toMatchObject({ code: 1, stdout: '' })
  expect(empty.stderr).toMatch(/^hub: The database has no schema of the Hub\.\nRun: hub migrate/)

  const none = await runCli(['db', 'distribute'], { HUB_DATA_DIR: directory })
  expect(none).toMatchObject({ code: 1, stdout: '' })
  expect(none.stderr).toMatch(/^hub: There is no database in .*\nSet HUB_DATA_DIR or HUB_DATABASE_URL/)
})
