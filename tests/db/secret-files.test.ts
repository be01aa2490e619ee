import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { targetIn } from '../../cli/hub-address.ts'
import { secretVariables } from '../../server/config/secret-files.ts'
import { type Config, loadConfig } from '../../server/config.ts'
import { ConfigError, type ConfigProblem } from '../../server/startup-error.ts'

const key = Buffer.alloc(32, 7)
const production = { HUB_ENV: 'production', HUB_BASE_URL: 'https://hub.example.com' }

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-secrets-'))
})
afterAll(() => rm(directory, { recursive: true }))

async function fileOf(content: string | Uint8Array): Promise<string> {
  const file = join(await mkdtemp(join(directory, 'one-')), 'secret')
  await writeFile(file, content)
  return file
}

function problemsOf(env: NodeJS.ProcessEnv): readonly ConfigProblem[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).problems
  }
}

const settings: Record<string, [text: string, read: (config: Config) => unknown, expected: unknown]> = {
  HUB_DATABASE_URL: [
    'postgresql://o:p@db.example.com/hub',
    (c) => c.databaseUrl,
    'postgresql://o:p@db.example.com/hub',
  ],
  HUB_DATABASE_DIRECT_URL: ['postgresql://o:p@h/hub', (c) => c.databaseDirectUrl, 'postgresql://o:p@h/hub'],
  HUB_DATABASE_READ_URL: ['postgresql://o:p@r/hub', (c) => c.databaseReadUrl, 'postgresql://o:p@r/hub'],
  HUB_MASTER_KEY: [key.toString('base64'), (c) => c.masterKey, key],
  HUB_OPERATOR_TOKEN: ['t'.repeat(32), (c) => c.operatorToken, 't'.repeat(32)],
  HUB_VAULT_TOKEN: ['hvs.x', (c) => c.vault?.token, 'hvs.x'],
  HUB_SMTP_URL: ['smtps://u:p@mail.example.com', (c) => c.smtpUrl, 'smtps://u:p@mail.example.com'],
  HUB_VALKEY_URL: ['rediss://u:p@cache.example.com', (c) => c.valkeyUrl, 'rediss://u:p@cache.example.com'],
  HUB_STORAGE_URL: ['s3://bucket?region=x', (c) => c.storageUrl, 's3://bucket?region=x'],
  HUB_CHECKPOINT_SINK: ['off', (c) => c.checkpointSinks, []],
}

test('the cases are the secret variables of the service', () => {
  const ofService = secretVariables.filter((name) => !/^HUB_(CONNECTOR|CLIENT)_/.test(name))
  expect(Object.keys(settings)).toEqual(ofService)
})

test.each(Object.entries(settings))(
  '%s may be a file, with a line break at its end',
  async (name, [text, read, value]) => {
    const env = {
      HUB_VAULT_ADDR: name === 'HUB_VAULT_TOKEN' ? 'https://vault.example.com' : undefined,
      HUB_DATABASE_URL: /_(DIRECT|READ)_/.test(name) ? 'postgresql://o:p@pooler/hub' : undefined,
    }
    for (const end of ['', '\n', '\r\n']) {
      expect(read(loadConfig({ ...env, [`${name}_FILE`]: await fileOf(text + end) }))).toEqual(value)
    }
  },
)

const unusable: [name: string, content: () => Promise<string>, reason: string][] = [
  ['a missing file', async () => join(directory, 'none'), 'the file does not exist'],
  ['a folder', async () => directory, 'it is a folder'],
  ['an empty file', () => fileOf(''), 'it is empty'],
  ['a line break alone', () => fileOf('\n'), 'it is empty'],
  ['64 KiB and one byte', () => fileOf('x'.repeat(64 * 1024 + 1)), 'it is larger than 64 KiB'],
  ['bytes that are no text', () => fileOf(Uint8Array.of(0xff, 0xfe)), 'it is not text in UTF-8'],
  ['a device', async () => '/dev/null', 'it is not a regular file'],
]

test.each(unusable)('%s is the only problem, by the name of the variable', async (_, content, reason) => {
  const file = await content()
  expect(problemsOf({ ...production, HUB_MASTER_KEY_FILE: file })).toEqual([
    {
      variable: 'HUB_MASTER_KEY_FILE',
      problem: `names ${file}, which cannot be read: ${reason}.`,
      fix: 'Name a readable file that contains the value of HUB_MASTER_KEY and nothing else.',
    },
  ])
  const vault = { HUB_VAULT_ADDR: 'https://vault.example.com', HUB_VAULT_TOKEN_FILE: file }
  expect(problemsOf(vault).map(({ variable }) => variable)).toEqual(['HUB_VAULT_TOKEN_FILE'])
})

test('a pipe without a writer does not stop the start', () => {
  const pipe = join(directory, 'pipe')
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', pipe])
  expect(problemsOf({ HUB_OPERATOR_TOKEN_FILE: pipe })[0]?.problem).toContain('it is not a regular file')
})

test.each(Object.keys(settings))('%s is refused beside its file', async (name) => {
  const env = { [name]: 'x', [`${name}_FILE`]: await fileOf('x') }
  expect(problemsOf(env)).toContainEqual({
    variable: `${name}_FILE`,
    problem: `is set beside ${name}.`,
    fix: 'Set one of the two.',
  })
})

test('a wrong value names the variable of the file, and is not repeated', async () => {
  const [problem, ...others] = problemsOf({ ...production, HUB_MASTER_KEY_FILE: await fileOf('not-a-key') })
  expect(others).toEqual([])
  expect(problem?.variable).toBe('HUB_MASTER_KEY_FILE')
  expect(problem?.problem).toBe('names a file whose content is not the base64 of 32 bytes.')
})

test('commands that call a Hub read the secret of their account from a file', async () => {
  const account = { HUB_URL: 'https://hub.example.com', HUB_TENANT: 'acme', HUB_CLIENT_ID: 'sa1' }
  expect(targetIn({ ...account, HUB_CLIENT_SECRET_FILE: await fileOf('hubs1\n') }).clientSecret).toBe('hubs1')
  const file = join(directory, 'none')
  expect(() => targetIn({ ...account, HUB_CLIENT_SECRET_FILE: file })).toThrow(
    /HUB_CLIENT_SECRET_FILE names .* does not/,
  )
  expect(() => targetIn(account)).toThrow('HUB_CLIENT_SECRET is not set.')
})
