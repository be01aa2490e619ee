import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConnectorConfig } from '../../cli/connector/connector-config.ts'
import { ConfigError } from '../../server/startup-error.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'connector-config-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const env = { HUB_CONNECTOR_CLIENT_ID: 'client1', HUB_CONNECTOR_CLIENT_SECRET: 'hubssecret' }
const flags = { hubUrl: 'https://hub.example.com', tenant: 'acme' }

function problemsOf(work: () => unknown): Record<string, string> {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return Object.fromEntries((error as ConfigError).problems.map(({ variable, problem }) => [variable, problem]))
  }
  return {}
}

test('flags beat variables, and what is left has defaults', () => {
  const config = loadConnectorConfig(
    { ...env, HUB_CONNECTOR_TENANT: 'other', HUB_CONNECTOR_PORT: '1234', HUB_CONNECTOR_SPOOL: '/var/spool/hub' },
    flags,
  )
  expect(config).toMatchObject({
    hubUrl: 'https://hub.example.com',
    tenant: 'acme',
    host: '127.0.0.1',
    port: 1234,
    spoolDirectory: '/var/spool/hub',
    spoolBytesMax: 1024 * 1024 * 1024,
    retryMaxMs: 60_000,
    sharedSecret: undefined,
  })
})

test('all problems are reported together, and no secret with them', () => {
  const broken = { HUB_CONNECTOR_CLIENT_ID: 'no id', HUB_CONNECTOR_CLIENT_SECRET: 'two words' }
  const wrong = {
    hubUrl: 'ftp://hub',
    tenant: 'A',
    port: '99999',
    host: 'name',
    spoolMaxMib: '0',
    retryMaxSeconds: 'x',
  }
  const problems = problemsOf(() => loadConnectorConfig(broken, wrong))
  expect(Object.keys(problems).sort()).toEqual([
    '--host',
    '--hub-url',
    '--port',
    '--retry-max-seconds',
    '--spool-max-mib',
    '--tenant',
    'HUB_CONNECTOR_CLIENT_ID',
    'HUB_CONNECTOR_CLIENT_SECRET',
  ])
  expect(JSON.stringify(problems)).not.toMatch(/two words|no id/)
  expect(Object.keys(problemsOf(() => loadConnectorConfig({}, {}))).sort()).toEqual([
    '--hub-url',
    '--tenant',
    'HUB_CONNECTOR_CLIENT_ID',
    'HUB_CONNECTOR_CLIENT_SECRET',
  ])
})

test('the secret goes over https, or to this machine', () => {
  const load = (hubUrl: string) => problemsOf(() => loadConnectorConfig(env, { ...flags, hubUrl }))
  expect(load('http://hub.example.com')['--hub-url']).toContain('in clear')
  for (const url of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
    expect(load(url)).toEqual({})
  expect(load('https://hub.example.com/path')['--hub-url']).toContain('more than')
})

test('beyond loopback it takes a shared secret, and a long one', () => {
  const load = (more: Record<string, string>, host: string) =>
    problemsOf(() => loadConnectorConfig({ ...env, ...more }, { ...flags, host }))
  expect(load({}, '0.0.0.0')['--host']).toContain('others can reach it')
  expect(load({}, '::')['--host']).toContain('others can reach it')
  expect(load({ HUB_CONNECTOR_SHARED_SECRET: 'short' }, '10.0.0.1')).toHaveProperty('HUB_CONNECTOR_SHARED_SECRET')
  expect(load({ HUB_CONNECTOR_SHARED_SECRET: 's'.repeat(32) }, '0.0.0.0')).toEqual({})
  for (const host of ['127.0.0.1', '::1', 'localhost']) expect(load({}, host)).toEqual({})
})

test('a secret may be in a file, and only there or only in the variable', async () => {
  const file = join(directory, 'secret')
  await writeFile(file, 'hubsfromfile\n')
  const { HUB_CONNECTOR_CLIENT_ID } = env
  const fromFile = { HUB_CONNECTOR_CLIENT_ID, HUB_CONNECTOR_CLIENT_SECRET_FILE: file }
  expect(loadConnectorConfig(fromFile, flags).clientSecret).toBe('hubsfromfile')
  const both = { ...env, HUB_CONNECTOR_CLIENT_SECRET_FILE: file }
  expect(problemsOf(() => loadConnectorConfig(both, flags))).toHaveProperty('HUB_CONNECTOR_CLIENT_SECRET_FILE')
  const missing = { HUB_CONNECTOR_CLIENT_ID, HUB_CONNECTOR_CLIENT_SECRET_FILE: join(directory, 'none') }
  expect(problemsOf(() => loadConnectorConfig(missing, flags))).toEqual({
    HUB_CONNECTOR_CLIENT_SECRET_FILE: expect.stringContaining('the file does not exist'),
  })
})
