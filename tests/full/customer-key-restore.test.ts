import { cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'

const secret = 'nobody-may-read-this-in-a-backup'
const later = new Date(Date.now() + 31 * 86_400_000).toISOString()

let before: string
let shared: string
let hub: HubProcess | undefined
let credentials: { client_id: string; client_secret: string }

beforeAll(async () => {
  before = await freshDataDirectory('before')
  shared = await freshDataDirectory('shared')
  await mkdir(shared, { recursive: true })
})
afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

const places = () => ({
  HUB_STORAGE_URL: pathToFileURL(join(shared, 'storage')).href,
  HUB_KEYRING_DIR: join(shared, 'keyring'),
})

async function cli(dataDir: string, ...args: string[]) {
  const { code, stdout, stderr } = await runCli([...args, '--json'], { HUB_DATA_DIR: dataDir, ...places() })
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function served<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  hub = await startHubProcess(dataDir, places())
  try {
    return await work()
  } finally {
    await hub.stop()
    hub = undefined
  }
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

async function write(title: string): Promise<string> {
  const answer = await call('POST', 'records', { record_type: 'artifact', title })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.record_id
}

/** A data directory with nothing but the master key. */
async function emptyDirectory(name: string): Promise<string> {
  const directory = await freshDataDirectory(name)
  await mkdir(directory, { mode: 0o711 })
  await cp(join(before, 'master.key'), join(directory, 'master.key'))
  return directory
}

/** One into which the backup is restored. */
async function restoredInto(name: string) {
  const directory = await emptyDirectory(name)
  return { directory, restored: await cli(directory, 'restore', backup) }
}

let kept: string
let gone: string
let backup: string
/** Of the keyring, from before the destruction. */
let copy: string

describe('a tenant in Mode B', () => {
  test('is backed up without its content in clear, and goes on', async () => {
    await cli(before, 'tenant', 'create', 'acme', '--mode', 'B', '--admin-email', 'a@acme.example')
    const scope = scopeNames.join(' ')
    credentials = await cli(before, 'service-account', 'create', '--tenant', 'acme', '--name', 'x', '--scope', scope)
    await served(before, async () => {
      const provisioned = await call('POST', 'provision', { cmek: { provider: 'local', key_ref: 'k1' } })
      expect(provisioned.status, JSON.stringify(provisioned.body)).toBe(200)
      kept = await write(secret)
      gone = await write(secret)
      backup = (await cli(before, 'backup', shared)).file
      expect(gunzipSync(await readFile(backup)).includes(secret)).toBe(false)
      expect((await call('DELETE', `records/${gone}?reason=asked`)).status).toBe(200)
      expect(await cli(before, 'jobs', 'run', 'hard-delete', '--tenant', 'acme', '--as-of', later)).toMatchObject({
        tenants: [{ erased: 1 }],
      })
      const certificate = await call('GET', `records/${gone}/deletion-certificate`)
      expect(certificate).toMatchObject({ status: 200, body: { record_id: gone } })
    })
  })

  test('is restored with its keyring, without what was erased since', async () => {
    const { directory, restored } = await restoredInto('with-keyring')
    expect(restored.tenants).toMatchObject([{ tenant: 'acme', erased_again: 1 }])
    await served(directory, async () => {
      expect((await call('GET', `records/${kept}?verify=true`)).body).toMatchObject({
        title: secret,
        verification: { verified: true },
      })
      expect((await call('GET', `records/${gone}`)).status).toBe(404)
      await write('after the restore')
    })
    expect(await cli(directory, 'log', 'audit')).toMatchObject({ verified: true, tenants: [{ erased: 1 }] })
  })

  test('whose key was destroyed is restored without its content', async () => {
    copy = join(shared, 'keyring-copy')
    await cp(join(shared, 'keyring'), copy, { recursive: true })
    await served(before, async () => {
      const destroyed = await call('POST', 'cmek:destroy', { confirm: 'acme', reason: 'over' })
      expect(destroyed.status, JSON.stringify(destroyed.body)).toBe(200)
    })
    // As a provider has it that the Hub does not keep the keys of: the customer has not ended the key there.
    await cp(copy, join(shared, 'keyring'), { recursive: true })
    const { directory, restored } = await restoredInto('after-destruction')
    expect(restored.tenants).toMatchObject([{ tenant: 'acme', erased_again: 1, keys_destroyed_again: 1 }])
    await served(directory, async () => {
      expect((await call('GET', `records/${kept}`)).body).toMatchObject({ content: 'unavailable' })
      expect((await call('GET', `records/${kept}/proof`)).status).toBe(200)
      const { body } = await call('GET', 'records?event_kind=cmek.key_destroyed')
      expect(body.records).toMatchObject([
        {
          details: { reason: 'over', before_restore: { event_id: expect.any(String) }, actor: 'operator:command-line' },
        },
      ])
      expect((await call('POST', 'provision', { cmek: { provider: 'local', key_ref: 'k2' } })).status).toBe(200)
      await write('under the next key')
    })
    expect(await cli(directory, 'log', 'audit')).toMatchObject({ verified: true, tenants: [{ failed: 0 }] })
    const again = await cli(directory, 'restore', '--reapply-erasures')
    expect(again.tenants[0]).not.toHaveProperty('keys_destroyed_again')
  })

  test('whose keyring is missing is not restored until it is there', async () => {
    await rm(join(shared, 'keyring'), { recursive: true, force: true })
    // The Hub's own account of it, which the next test needs no more.
    await rm(join(shared, 'storage', 'destroyed-keys'), { recursive: true })
    const directory = await emptyDirectory('without-keyring')
    const { code, stderr } = await runCli(['restore', backup], { HUB_DATA_DIR: directory, ...places() })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('has no such key') })
    expect(stderr).toContain('run `hub restore --reapply-erasures` first')
    await cp(copy, join(shared, 'keyring'), { recursive: true })
    expect((await cli(directory, 'restore', '--reapply-erasures')).tenants).toMatchObject([{ erased_again: 1 }])
  })
})
