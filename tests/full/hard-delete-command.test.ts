import { afterAll, beforeAll, expect, test } from 'vitest'
import { decision, pathOf, write } from '../api/record-cases.ts'
import { runCli } from '../cli/run-cli.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let env: Record<string, string>
beforeAll(async () => {
  hub = await startHub()
  env = {
    HUB_DATABASE_URL: hub.test.url,
    HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
    HUB_DATA_DIR: hub.dataDir,
    HUB_BASE_URL: hub.baseUrl,
  }
})
afterAll(() => hub.stop())

const hardDelete = (args: readonly string[], more = {}) =>
  runCli(['jobs', 'run', 'hard-delete', ...args], { ...env, ...more })

test('hard-delete erases what is due, or would be at another time', async () => {
  const id = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
  const now = await hardDelete(['--json'])
  expect({ code: now.code, stderr: now.stderr }).toEqual({ code: 0, stderr: '' })
  const nothing = { purged: 0, erased: 0, held: 0 }
  expect(JSON.parse(now.stdout)).toEqual({
    job: 'hard-delete',
    tenants: expect.arrayContaining(['acme', 'globex', 'cmode'].map((tenant) => ({ tenant, ...nothing }))),
  })
  expect((await hub.call('acme', 'GET', pathOf(id))).status).toBe(200)

  const later = new Date(Date.now() + 31 * 86_400_000).toISOString()
  const { stdout } = await hardDelete(['--tenant', 'acme', '--as-of', later])
  expect(stdout).toBe(
    'Tenant acme: 0 records purged by a retention rule, 1 record erased, 0 records kept although the recovery period is over.\n',
  )
  expect((await hub.call('acme', 'GET', pathOf(id))).status).toBe(404)
  expect((await hub.call('acme', 'GET', pathOf(id, '/deletion-certificate'))).status).toBe(200)
})

test('another time is refused in production, for other jobs, and where it is none', async () => {
  const production = { HUB_ENV: 'production', HUB_BASE_URL: 'https://hub.example.com' }
  for (const [args, more, said] of [
    [['--as-of', '2999-01-01T00:00:00Z'], production, '--as-of is refused in production'],
    [['--as-of', 'tomorrow'], {}, '--as-of "tomorrow" is not an RFC 3339 timestamp'],
    [['--tenant', 'nobody'], {}, 'There is no tenant "nobody"'],
  ] as const) {
    const { code, stdout, stderr } = await hardDelete(args, more)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(said)
  }
  const fold = await runCli(['jobs', 'run', 'fold-rollups', '--as-of', '2999-01-01T00:00:00Z'], env)
  expect(fold).toMatchObject({ code: 1, stderr: expect.stringContaining('fold-rollups does not take --as-of') })
})
