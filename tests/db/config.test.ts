import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { defaultDataDirectory } from '../../server/config/data-directory.ts'
import { loadConfig, withListeningPort } from '../../server/config.ts'
import { ConfigError } from '../../server/startup-error.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const production = { HUB_ENV: 'production', HUB_MASTER_KEY: key, HUB_BASE_URL: 'https://hub.example.com' }

function problemsOf(...given: Parameters<typeof loadConfig>): string[] {
  try {
    loadConfig(...given)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    for (const problem of (error as ConfigError).problems) expect(problem.fix).not.toBe('')
    return (error as ConfigError).problems.map((each) => each.variable)
  }
}

test('an empty environment is a development one on this machine', () => {
  const config = loadConfig({})
  expect(config).toMatchObject({
    environment: 'development',
    role: 'all',
    workers: 1,
    host: '127.0.0.1',
    port: 8080,
    baseUrl: 'http://127.0.0.1:8080',
    browserUrl: 'http://127.0.0.1:8080',
    databaseUrl: undefined,
    drainSeconds: 25,
    limitFactor: 1,
    bodySeconds: 20,
    connectionsPerAddress: 512,
    logLevel: 'info',
  })
  expect(config.version).toMatch(/^\d+\.\d+\.\d+/)
  expect(Object.isFrozen(config)).toBe(true)
})

test('all problems are reported together, each with its variable', () => {
  const wrong = {
    HUB_ENV: 'production',
    HUB_PORT: '70000',
    HUB_ROLE: 'boss',
    HUB_WORKERS: '65',
    HUB_BASE_URL: 'http://hub.example.com',
    HUB_DATABASE_URL: 'mysql://x',
    HUB_TRUSTED_PROXIES: '10.0.0.0/40',
    HUB_LIMIT_FACTOR: '0',
    HUB_BODY_SECONDS: '0',
    HUB_CONNECTIONS_PER_ADDRESS: 'many',
    HUB_DRAIN_SECONDS: 'soon',
    HUB_LOG_LEVEL: 'loud',
    HUB_METRICS_PORT: 'on',
    HUB_OPERATOR_TOKEN: 'short',
    HUB_SMTP_URL: 'mail.example.com',
    HUB_VALKEY_URL: 'http://cache',
    HUB_STORAGE_URL: 'ftp://files',
    HUB_OUTBOUND_ALLOW: 'not a host',
    HUB_KEYRING_DIR: 'keys',
    HUB_VAULT_ADDR: 'vault',
    HUB_VAULT_TOKEN: 'two words',
  }
  const variables = [...Object.keys(wrong).filter((name) => name !== 'HUB_ENV'), 'HUB_MASTER_KEY']
  expect(problemsOf(wrong).sort()).toEqual(variables.sort())
  expect(() => loadConfig(wrong)).toThrow(/HUB_PORT[\s\S]*HUB_OUTBOUND_ALLOW/)
})

test('Vault needs its address and a token, and outside of development https', () => {
  const vault = { HUB_VAULT_ADDR: 'https://vault.example.com', HUB_VAULT_TOKEN: 'hvs.x' }
  expect(loadConfig(vault).vault).toEqual({ address: 'https://vault.example.com', token: 'hvs.x' })
  expect(loadConfig({ ...vault, HUB_VAULT_NAMESPACE: 'team' }).vault).toMatchObject({ namespace: 'team' })
  expect(loadConfig({}).vault).toBeUndefined()
  expect(problemsOf({ HUB_VAULT_TOKEN: 'hvs.x' })).toEqual(['HUB_VAULT_TOKEN'])
  expect(problemsOf({ HUB_VAULT_ADDR: vault.HUB_VAULT_ADDR })).toEqual(['HUB_VAULT_TOKEN'])
  const plain = { ...vault, HUB_VAULT_ADDR: 'http://vault.example.com' }
  expect(problemsOf(plain)).toEqual([])
  expect(problemsOf({ ...production, ...plain })).toEqual(['HUB_VAULT_ADDR'])
})

test.each(['HUB_DATABASE_DIRECT_URL', 'HUB_DATABASE_READ_URL'])('%s needs HUB_DATABASE_URL', (variable) => {
  const further = { [variable]: 'postgresql://owner:x@db.example.com/hub' }
  expect(problemsOf(further)).toEqual([variable])
  expect(problemsOf({ ...further, HUB_DATABASE_URL: 'postgresql://owner:x@other.example.com:6432/hub' })).toEqual([])
})

test('keys that tenants may name are each of one tenant', () => {
  const { keyNames } = loadConfig({})
  expect(keyNames.vault).toEqual([{ pattern: 'hub-{tenant}' }, { pattern: 'hub-{tenant}_*' }])
  expect(keyNames['aws-kms']).toEqual([{ pattern: 'alias/hub/{tenant}' }, { pattern: 'alias/hub/{tenant}/*' }])
  const arn = 'arn:aws:kms:*:111122223333:key/*'
  expect(loadConfig({ HUB_KMS_KEYS: ` acme=${arn} ,` }).keyNames['aws-kms']).toEqual([{ tenant: 'acme', pattern: arn }])
  const wrong = [
    '*',
    'shared',
    '{tenant}-*',
    '*x{tenant}',
    '{tenant}{tenant}',
    'acme={tenant}',
    'a b',
    'Acme=x',
    'acme=',
  ]
  for (const text of wrong) expect(problemsOf({ HUB_KMS_KEYS: text })).toEqual(['HUB_KMS_KEYS'])
  expect(problemsOf({ HUB_VAULT_KEYS: 'acme=*/acme' })).toEqual(['HUB_VAULT_KEYS'])
  expect(problemsOf({ HUB_VAULT_KEYS: 'team/transit/{tenant}_*' })).toEqual([])
})

describe('production', () => {
  test('starts with a key and an https address', () => expect(problemsOf(production)).toEqual([]))
  test('refuses to start without a master key', () =>
    expect(problemsOf({ ...production, HUB_MASTER_KEY: '' })).toEqual(['HUB_MASTER_KEY']))
  test('refuses a key of another length', () =>
    expect(problemsOf({ ...production, HUB_MASTER_KEY: 'c2hvcnQ=' })).toEqual(['HUB_MASTER_KEY']))
  test('needs its address', () => expect(problemsOf({ ...production, HUB_BASE_URL: '' })).toEqual(['HUB_BASE_URL']))
  test('may listen on every interface', () =>
    expect(loadConfig({ ...production, HUB_HOST: '0.0.0.0' }).host).toBe('0.0.0.0'))
})

test('staging needs https, but not a master key', () => {
  expect(problemsOf({ HUB_ENV: 'staging', HUB_BASE_URL: 'http://hub.example.com' })).toEqual(['HUB_BASE_URL'])
  expect(problemsOf({ HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example.com' })).toEqual([])
})

test.each(['0.0.0.0', '::', '192.168.1.5', 'hub.example.com'])('development does not listen on %s', (host) => {
  expect(problemsOf({ HUB_HOST: host })).toEqual(['HUB_HOST'])
  expect(problemsOf({}, { host })).toEqual(['--host'])
})

test.each(['127.0.0.1', '127.8.8.8', '::1', '[::1]', 'localhost'])('development listens on %s', (host) =>
  expect(problemsOf({ HUB_HOST: host })).toEqual([]),
)

test('the command line beats the environment, and is named in its problems', () => {
  const config = loadConfig({ HUB_PORT: '1', HUB_ROLE: 'api' }, { port: '0', role: 'worker', dataDir: 'here' })
  expect(config).toMatchObject({ port: 0, role: 'worker', dataDirConfigured: true })
  expect(config.dataDir).toMatch(/^\/.*\/here$/)
  expect(problemsOf({}, { port: 'x', role: 'y' })).toEqual(['--port', '--role'])
})

test('the base URL follows the port that the system chose, unless it was set', () => {
  expect(withListeningPort(loadConfig({ HUB_PORT: '0' }), 4242)).toMatchObject({
    port: 4242,
    baseUrl: 'http://127.0.0.1:4242',
    browserUrl: 'http://127.0.0.1:4242',
  })
  expect(withListeningPort(loadConfig(production), 4242).baseUrl).toBe('https://hub.example.com')
  expect(loadConfig({ HUB_BASE_URL: 'https://hub.example.com/' }).baseUrl).toBe('https://hub.example.com')
})

test('the browser address is on the same site', () => {
  expect(problemsOf({ ...production, HUB_BROWSER_URL: 'https://ui.example.com' })).toEqual([])
  expect(problemsOf({ ...production, HUB_BROWSER_URL: 'https://hub.example.org' })).toEqual(['HUB_BROWSER_URL'])
})

test('a password in a wrong URL is not repeated', () => {
  expect(() => loadConfig({ HUB_DATABASE_URL: 'postgrsql://u:hunter2@h/d' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
  )
})

test('the default data directory is the checkout, and for root a directory of its own outside', () => {
  const hash = createHash('sha256').update('/some/checkout').digest('hex').slice(0, 16)
  expect(defaultDataDirectory('/some/checkout', false)).toBe('/some/checkout/.hub-data')
  expect(defaultDataDirectory('/some/checkout', true)).toBe(`/var/lib/org-memory-hub/${hash}`)
})
