import { copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'

const secret = 'nobody-may-read-this-again'
const later = new Date(Date.now() + 31 * 86_400_000).toISOString()

let before: string
let after: string
let shared: string
let hub: HubProcess | undefined
let credentials: { client_id: string; client_secret: string }

beforeAll(async () => {
  before = await freshDataDirectory('before')
  after = await freshDataDirectory('after')
  shared = await freshDataDirectory('shared')
  await mkdir(shared, { recursive: true })
})
afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

const places = () => ({
  HUB_STORAGE_URL: pathToFileURL(join(shared, 'storage')).href,
  HUB_CHECKPOINT_SINK: pathToFileURL(join(shared, 'kept')).href,
})

async function cli(dataDir: string, ...args: string[]) {
  const { code, stdout, stderr } = await runCli([...args, '--json'], { HUB_DATA_DIR: dataDir, ...places() })
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function serve(dataDir: string): Promise<HubProcess> {
  hub = await startHubProcess(dataDir, places())
  return hub
}

async function stop(): Promise<void> {
  await hub?.stop()
  hub = undefined
}

async function call(method: string, path: string, body?: object) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...credentials })
  const answer = await fetch(`${hub!.url}/api/v1/oauth/token`, { method: 'POST', body: form })
  const { access_token } = (await answer.json()) as { access_token: string }
  const response = await fetch(`${hub!.url}/api/v1/hub/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${access_token}`,
      'x-service-tenant': 'acme',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert what is in it
  return { status: response.status, body: (await response.json()) as any }
}

const write = async (title: string) =>
  (await call('POST', 'records', { record_type: 'artifact', title })).body.record_id as string

async function keptSizes(): Promise<number[]> {
  const [file] = (await readdir(join(shared, 'kept')).catch(() => [])).filter(
    (name) => name.endsWith('.jsonl') && !name.includes('before-restore'),
  )
  if (file === undefined) return []
  const lines = (await readFile(join(shared, 'kept', file), 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line).tree_size)
}

describe('a Hub that is restored', () => {
  let kept: string
  let gone: string
  let lost: string
  /** Purged before the backup, and held after. */
  let held: string
  let backup: string

  test('is backed up while it serves', async () => {
    await cli(before, 'tenant', 'create', 'acme', '--mode', 'A', '--admin-email', 'a@acme.example')
    const scope = 'hub:read hub:write hub:purge governance:read'
    credentials = await cli(before, 'service-account', 'create', '--tenant', 'acme', '--name', 'x', '--scope', scope)
    await serve(before)
    kept = await write('it stays')
    gone = await write(secret)
    held = await write('a hold comes over it')
    expect((await call('DELETE', `records/${held}?reason=asked`)).status).toBe(200)
    const written = await cli(before, 'backup', shared)
    backup = written.file
    expect(written).toMatchObject({ tenants: 1, records: expect.any(Number) })
    expect((await stat(backup)).mode & 0o777).toBe(0o600)
    expect(gunzipSync(await readFile(backup)).includes(secret)).toBe(true)
  })

  test('goes on: a record is erased, another written, and the state of the log is kept outside', async () => {
    const hold = await call('POST', 'legal-holds', { name: 'Case', reason: 'lawsuit', record_ids: [held] })
    expect(hold.status).toBe(201)
    expect((await call('DELETE', `records/${gone}?reason=asked`)).status).toBe(200)
    expect(await cli(before, 'jobs', 'run', 'hard-delete', '--tenant', 'acme', '--as-of', later)).toMatchObject({
      tenants: [{ erased: 1 }],
    })
    lost = await write('written after the backup')
    const size = (await call('GET', 'log/checkpoint')).body.tree_size
    await expect.poll(async () => (await keptSizes()).at(-1)).toBe(size)
    await stop()
  })

  test('is not restored without its master key, nor over itself', async () => {
    const missing = await runCli(['restore', backup], { HUB_DATA_DIR: after, ...places() })
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('master.key') })
    await expect(stat(after)).rejects.toThrow('ENOENT')
    const over = await runCli(['restore', backup], { HUB_DATA_DIR: before, ...places() })
    expect(over).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('The database already contains a Hub'),
    })
    const neither = await runCli(['restore'], { HUB_DATA_DIR: after, ...places() })
    expect(neither).toMatchObject({ code: 2, stderr: expect.stringContaining('--reapply-erasures') })
  })

  test('is restored into a new data directory, without what was erased since', async () => {
    await mkdir(after, { mode: 0o711 })
    await copyFile(join(before, 'master.key'), join(after, 'master.key'))
    const sizes = await keptSizes()
    const restored = await cli(after, 'restore', backup)
    expect(restored.tenants).toEqual([
      {
        tenant: 'acme',
        erased_again: 1,
        holds_placed_again: 1,
        holds_released_again: 0,
        checkpoints_put_aside: [
          { log_name: expect.any(String), tree_size: sizes.at(-1), file: expect.stringContaining('before-restore-') },
        ],
      },
    ])

    await serve(after)
    expect((await call('GET', `records/${kept}`)).body.title).toBe('it stays')
    expect((await call('GET', `records/${gone}`)).status).toBe(404)
    expect((await call('GET', `records/${lost}`)).status).toBe(404)
    const certificate = await call('GET', `records/${gone}/deletion-certificate`)
    expect(certificate).toMatchObject({ status: 200, body: { record_id: gone, purge_reason: 'asked' } })
    const events = await call('GET', 'records?record_type=governance_event&event_kind=hub.restored')
    expect(events.body.records).toHaveLength(1)
    expect(events.body.records[0]).toMatchObject({
      subject: 'tenant:acme',
      details: {
        actor: 'operator:command-line',
        backup_created_at: restored.backup_created_at,
        erased_again: 1,
        holds_placed_again: 1,
        holds_released_again: 0,
        tree_sizes_put_aside: [sizes.at(-1)],
      },
    })
    expect((await call('GET', `records/${kept}?verify=true`)).body.verification.verified).toBe(true)
  })

  test('has a log that is good, and goes on from there', async () => {
    await write('written after the restore')
    const size = (await call('GET', 'log/checkpoint')).body.tree_size
    await expect.poll(async () => (await keptSizes()).at(-1)).toBe(size)
    const { verified, tenants } = await cli(after, 'log', 'audit')
    expect({ verified, failures: tenants.flatMap((each: { failures: unknown[] }) => each.failures) }).toEqual({
      verified: true,
      failures: [],
    })
    expect(tenants[0]).toMatchObject({ tenant: 'acme', tree_size: size, erased: 1 })
    expect(tenants[0].checkpoints).toBeGreaterThan(0)
  })

  test('has no byte of what was erased in any table', async () => {
    const again = await cli(after, 'backup', join(shared, 'again.tar.gz'))
    expect(gunzipSync(await readFile(again.file)).includes(secret)).toBe(false)
    await stop()
  })

  test('its old checkpoints still tell that the log was set back', async () => {
    const folder = join(shared, 'kept')
    const names = (await readdir(folder)).filter((name) => name.includes('before-restore'))
    const sizes = await Promise.all(names.map(async (name) => (await readFile(join(folder, name), 'utf8')).length))
    const file = join(folder, names[sizes.indexOf(Math.max(...sizes))]!)
    const { code, stdout } = await runCli(['log', 'audit', '--tenant', 'acme', '--against', file], {
      HUB_DATA_DIR: after,
      ...places(),
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/Tenant acme: FAILED[\s\S]*(was restored to an earlier state|was rewritten)/)
  })

  test('by other means: what was erased is erased again by itself', async () => {
    const done = await cli(after, 'restore', '--reapply-erasures')
    const nothing = { erased_again: 0, holds_placed_again: 0, holds_released_again: 0, checkpoints_put_aside: [] }
    expect(done.tenants[0]).toEqual({ tenant: 'acme', ...nothing })
    const run = await cli(after, 'jobs', 'run', 'hard-delete', '--tenant', 'acme', '--as-of', later)
    expect(run).toMatchObject({ tenants: [{ erased: 0 }] })
  })
})
