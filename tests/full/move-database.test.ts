import { existsSync } from 'node:fs'
import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEmptyDatabase } from '../cli/empty-database.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'

let dataDir: string
let target: Awaited<ReturnType<typeof createEmptyDatabase>>
let hub: HubProcess | undefined
let credentials: Awaited<ReturnType<typeof makeTenant>>
let recordId: string

beforeAll(async () => {
  dataDir = await freshDataDirectory('move')
  target = await createEmptyDatabase()
  hub = await startHubProcess(dataDir)
  credentials = await makeTenant(dataDir, 'acme')
  recordId = (await call('POST', 'records', { record_type: 'artifact', title: 'It moves along' })).record_id as string
})
afterAll(async () => {
  await hub?.stop()
  await target.drop()
  await removeDataDirectories()
})

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  })
  const token = await fetch(`${hub!.url}/api/v1/oauth/token`, { method: 'POST', body: form })
  const { access_token } = (await token.json()) as { access_token: string }
  const response = await fetch(`${hub!.url}/api/v1/hub/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${access_token}`,
      'x-service-tenant': 'acme',
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Record<string, unknown>
}

const move = (env: Record<string, string>) => runCli(['db', 'move', '--json'], { HUB_DATA_DIR: dataDir, ...env })

test('a running Hub and no target refuse it, and the embedded database stays in use', async () => {
  const running = await move({ HUB_DATABASE_URL: target.url })
  expect(running).toMatchObject({ code: 1, stdout: '' })
  expect(running.stderr).toContain(dataDir)
  await hub!.stop()
  hub = undefined

  const nowhere = await move({})
  expect(nowhere).toMatchObject({ code: 1, stdout: '' })
  expect(nowhere.stderr).toMatch(/HUB_DATABASE_URL is not set/)

  expect((await readdir(dataDir)).filter((name) => name.startsWith('pg') || name.startsWith('move-'))).toEqual(['pg'])
})

test('every record is there afterwards, and the embedded database is put aside', async () => {
  // As a killed move leaves it.
  await writeFile(join(dataDir, 'move-1.tar.gz.abc.partial'), 'records in clear')
  const { code, stdout, stderr } = await move({ HUB_DATABASE_URL: target.url })
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/Read \d+ MiB\n[\s\S]*Written \d+ MiB of/),
  })
  const moved = JSON.parse(stdout)
  expect(moved).toMatchObject({
    tenants: expect.arrayContaining(['acme']),
    kept: expect.stringMatching(/pg\.moved-\d{8}T\d{6}Z$/),
  })
  expect(moved.records).toBeGreaterThan(0)
  expect(existsSync(join(dataDir, 'pg'))).toBe(false)
  expect((await readdir(dataDir)).filter((name) => name.startsWith('move-'))).toEqual([])

  hub = await startHubProcess(dataDir, { HUB_DATABASE_URL: target.url })
  expect(await call('GET', `records/${recordId}?verify=true`)).toMatchObject({
    title: 'It moves along',
    verification: { verified: true },
  })
  await hub.stop()
  hub = undefined
  const audit = await runCli(['log', 'audit', '--json'], { HUB_DATA_DIR: dataDir, HUB_DATABASE_URL: target.url })
  expect(audit.code).toBe(0)
})

test('again it finds nothing to move, and does not touch the new database', async () => {
  const again = await move({ HUB_DATABASE_URL: target.url })
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toMatch(/no embedded database/)

  const [kept] = (await readdir(dataDir)).filter((name) => name.startsWith('pg.moved-'))
  await rename(join(dataDir, kept!), join(dataDir, 'pg'))
  const twice = await move({ HUB_DATABASE_URL: target.url })
  expect(twice).toMatchObject({ code: 1, stdout: '' })
  expect(twice.stderr).toMatch(/already contains a Hub, with the tenant acme/)
})
