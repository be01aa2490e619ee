import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceLogins } from '../../server/db/roles.ts'
import { runCli } from '../cli/run-cli.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const otherKey = Buffer.alloc(32, 'another master key')
let db: TestDatabase

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(async () => {
  const superuser = await db.superuserClient()
  for (const { user } of Object.values(serviceLogins(otherKey)))
    await superuser.query(`drop owned by ${user}; drop role ${user}`)
  await db.drop()
})

const migrate = (masterKey: Buffer) =>
  runCli(['migrate', '--json'], { HUB_DATABASE_URL: db.url, HUB_MASTER_KEY: masterKey.toString('base64') })

test('a database that is up to date says so, and a wrong master key is refused at once', async () => {
  expect(JSON.parse((await migrate(db.masterKey)).stdout)).toEqual({ applied: [] })
  const refused = await migrate(otherKey)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('HUB_MASTER_KEY')
  expect(refused.stderr).not.toContain('    at ')
})
