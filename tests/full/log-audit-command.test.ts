import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCheckpointFolder } from '../../server/modules/log/checkpoint-sinks/checkpoint-file.ts'
import { runCli } from '../cli/run-cli.ts'
import { openNoteMaker } from '../log/checkpoint-notes.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let directory: string
let env: Record<string, string>
/** A saved answer of the API. */
let saved: string

beforeAll(async () => {
  hub = await startHub()
  directory = await mkdtemp(join(tmpdir(), 'hub-audit-cli-'))
  env = {
    HUB_DATABASE_URL: hub.test.url,
    HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
    HUB_DATA_DIR: directory,
    HUB_CHECKPOINT_SINK: pathToFileURL(join(directory, 'kept')).href,
  }
  await hub.call('acme', 'POST', '/api/v1/hub/records', { body: { record_type: 'artifact', title: 'x' } })
  saved = join(directory, 'saved.json')
  await writeFile(saved, (await hub.call('acme', 'GET', '/api/v1/hub/log/checkpoint')).text)
})
afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

const audit = (...args: string[]) => runCli(['log', 'audit', ...args], env)

test('all tenants are good, or one', async () => {
  const { code, stdout, stderr } = await audit('--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { verified, tenants } = JSON.parse(stdout)
  expect(verified).toBe(true)
  expect(tenants.map((each: { tenant: string }) => each.tenant)).toEqual(['acme', 'cmode', 'globex'])
  const one = await audit('--tenant', 'acme', '--against', saved)
  expect(one).toMatchObject({ code: 0, stderr: '' })
  expect(one.stdout).toMatch(
    /^Tenant acme: good\. \d+ entries, \d+ seals and \d+ records verified, 0 erased, compared with 1 checkpoint\.\n$/,
  )
})

test('without a file it compares with what the sink has kept', async () => {
  const { logName } = await hub.tenant('cmode')
  const folder = join(directory, 'kept')
  await mkdir(folder, { recursive: true })
  await openCheckpointFolder(folder).keep(openNoteMaker(logName).kept(5000), async () => true)
  const { code, stdout } = await audit('--tenant', 'cmode')
  expect(code).toBe(1)
  expect(stdout).toMatch(/Tenant cmode: FAILED[\s\S]*\.jsonl:1: no trusted key of the log signed this checkpoint/)
  await rm(folder, { recursive: true })
})

test('a log that was kept and has no tenant any more is a failure, by name', async () => {
  const folder = join(directory, 'kept')
  await openCheckpointFolder(folder).keep(openNoteMaker('orghub/log/gone').kept(7), async () => true)
  const { code, stdout } = await audit()
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining('FAILED: orghub/log/gone has stored checkpoints but no tenant'),
  ])
  expect(JSON.parse((await audit('--json')).stdout)).toMatchObject({
    verified: false,
    lost: [{ log_name: 'orghub/log/gone', problem: 'no_tenant' }],
  })
  await rm(folder, { recursive: true })
  const retired = await runCli(['log', 'retire', '--tenant', 'globex', '--reason', 'contract ended'], env)
  expect([retired.code, retired.stdout]).toEqual([0, expect.stringMatching(/has ended with \d+ entr/)])
  expect((await audit()).code).toBe(0)
  await rm(folder, { recursive: true })
})

test('what is wrong has exit code 1, and where it is', async () => {
  const superuser = await hub.superuserClient()
  await superuser.query(`delete from hub.records where tenant_id = 'acme' and record_type = 'artifact'`)
  const { code, stdout } = await audit('--tenant', 'acme', '--json')
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    verified: false,
    tenants: [{ tenant: 'acme', verified: false, failed: 1, failures: [{ at: expect.stringMatching(/^seal:/) }] }],
  })
})

test('a checkpoint of another log is a failure', async () => {
  const { code, stdout } = await audit('--tenant', 'globex', '--against', saved)
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /Tenant globex: good[\s\S]*FAILED: 1 checkpoint in .*saved\.json of orghub\/log\/\S+, which is another log/,
  )
})

test.each([
  ['a file that is not there', ['--against', '/nowhere/x'], /cannot be read/],
  ['a file without a checkpoint', ['--against', 'package.json'], /package\.json contains no checkpoint/],
  ['a tenant that is not there', ['--tenant', 'nobody'], /There is no tenant "nobody"/],
])('%s: it could not be checked', async (_, args, message) => {
  const { code, stdout, stderr } = await audit(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
})

test('a database that is away: it could not be checked', async () => {
  const away = { ...env, HUB_DATABASE_URL: 'postgresql://hub_owner:x@127.0.0.1:1/hub' }
  const { code, stderr } = await runCli(['log', 'audit'], away)
  expect(code).toBe(2)
  expect(stderr).toContain('cannot be reached')
})
