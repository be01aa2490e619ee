import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliHub, startCliHub } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'
import { type ModeB, modeB, provisionPath } from '../cmek/mode-b-lab.ts'
import { event } from '../telemetry/events.ts'

const records = '/api/v1/hub/records'
let lab: CliHub
let env: Record<string, string>
let b: ModeB
let artifact: string

beforeAll(async () => {
  lab = await startCliHub()
  // Commands open what the server has sealed, so they are told of the same keyring.
  env = { ...lab.env, HUB_KEYRING_DIR: join(lab.hub.dataDir, 'keyring') }
  b = await modeB(lab.hub, 'commands')
  await b.ready()
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
  await ingest(3)
  artifact = (await b.call('POST', records, { record_type: 'artifact', title: 'Xylophone' })).body.record_id
})
afterAll(() => lab.stop())

async function ingest(count: number): Promise<void> {
  const events = Array.from({ length: count }, () => event({ skill_id: 'sum' }))
  const answer = await b.call('POST', '/api/v1/telemetry/events:batch', { events })
  expect(answer.body.accepted, answer.text).toBe(count)
}

async function json(code: number, ...args: string[]) {
  const ended = await runCli([...args, '--json'], env)
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code, stderr: '' })
  return JSON.parse(ended.stdout)
}

async function invocations(): Promise<number> {
  const client = await lab.hub.superuserClient()
  const { rows } = await client.query<{ n: number }>(
    `select coalesce(sum(invocations), 0)::int as n from hub.telemetry_rollups
     where tenant_id = 'commands' and view = 'user' and grain = 'day'`,
  )
  return rows[0]!.n
}

const only = ['--tenant', 'commands']

test('commands audit, sweep and count what is encrypted, and rotate keys of signing', async () => {
  expect(await json(0, 'log', 'audit', ...only)).toMatchObject({ verified: true, tenants: [{ failed: 0, erased: 0 }] })
  expect(await json(0, 'jobs', 'run', 'sweep', ...only)).toMatchObject({ tenants: [{ failed: 0 }] })
  expect(await json(0, 'rollups', 'rebuild', ...only)).toMatchObject({ tenants: [{ events: 3, unreadable: 0 }] })
  expect(await invocations()).toBe(3)
  await json(0, 'keys', 'rotate', ...only)
  const { body } = await b.call('POST', `${records}/${artifact}/verify`)
  expect(body.verified).toBe(true)
})

test('a command without the keyring says so, and calls nothing tampered with', async () => {
  for (const command of [
    ['log', 'audit'],
    ['jobs', 'run', 'sweep'],
    ['rollups', 'rebuild'],
  ]) {
    const { code, stdout, stderr } = await runCli([...command, ...only], lab.env)
    expect(code, command.join(' ')).not.toBe(0)
    expect(stdout, command.join(' ')).not.toMatch(/tamper|changed/)
    expect(stderr, command.join(' ')).toMatch(/cannot be decrypted at the moment|no such key/)
  }
  expect(await b.events('hub.tamper_detected')).toEqual([])
})

test('after the destruction proofs hold, and sums stay unless they are to be lost', async () => {
  const ended = await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'commands', reason: 'over' })
  expect(ended.status, ended.text).toBe(200)
  await b.call('POST', provisionPath, { cmek: { provider: 'local', key_ref: 'k2' } })
  await ingest(2)
  expect(await json(0, 'log', 'audit', ...only)).toMatchObject({ verified: true, tenants: [{ failed: 0, erased: 5 }] })
  expect(await json(0, 'jobs', 'run', 'sweep', ...only)).toMatchObject({ tenants: [{ failed: 0 }] })
  await json(0, 'jobs', 'run', 'fold-rollups', ...only)
  expect(await invocations()).toBe(5)
  expect(await json(1, 'rollups', 'rebuild', ...only)).toEqual({
    tenants: [{ tenant: 'commands', kept: 'content-destroyed' }],
  })
  const told = await runCli(['rollups', 'rebuild', ...only], env)
  expect(told.stdout).toContain('nothing changed. The key of its events was destroyed')
  expect(await invocations()).toBe(5)
  expect(await json(0, 'rollups', 'rebuild', ...only, '--lose')).toMatchObject({
    tenants: [{ events: 2, unreadable: 3, erased: 3 }],
  })
  expect(await invocations()).toBe(2)
})
