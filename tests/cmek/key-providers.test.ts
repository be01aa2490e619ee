import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { KeyProvider } from '../../server/modules/cmek/cmek-types.ts'
import { openAwsKms } from '../../server/modules/cmek/providers/aws-kms.ts'
import { openLocalKeyring } from '../../server/modules/cmek/providers/local-keyring.ts'
import { openVaultTransit } from '../../server/modules/cmek/providers/vault-transit.ts'
import { startKms, startVault } from './key-services.ts'

const arn = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const directory = await mkdtemp(join(tmpdir(), 'hub-keyring-'))
const kms = await startKms(['alias/one', arn])
const vault = await startVault('a-token', ['transit/one', 'team/transit/two'])
afterAll(async () => {
  await Promise.all([kms.close(), vault.close(), rm(directory, { recursive: true })])
})

const masterKey = randomBytes(32)
const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret' }
const local = openLocalKeyring(directory, masterKey)
const aws = openAwsKms({ region: 'eu-west-1', kmsEndpoint: kms.url, credentials })
const transit = openVaultTransit({ address: vault.url, token: 'a-token', namespace: 'ns1' })
const key = randomBytes(32)
const context = { tenant: 'acme', keyId: 'ck_1' }

const cases: [string, KeyProvider, string][] = [
  ['local', local, 'k1'],
  ['local, with a name like a path', local, '../../k1'],
  ['aws-kms', aws, 'alias/one'],
  ['aws-kms, by ARN', aws, arn],
  ['vault', transit, 'one'],
  ['vault, of another engine', transit, 'team/transit/two'],
]

describe.each(cases)('%s', (_name, provider, keyRef) => {
  test('unwraps what it wrapped, for the same tenant and key alone', async () => {
    expect(provider.problemOf(keyRef)).toBeUndefined()
    const wrapped = await provider.wrap(keyRef, key, context)
    expect(wrapped.includes(key)).toBe(false)
    expect(await provider.unwrap(keyRef, wrapped, context)).toEqual(key)
    for (const other of [
      { ...context, tenant: 'globex' },
      { ...context, keyId: 'ck_2' },
    ]) {
      await expect(provider.unwrap(keyRef, wrapped, other)).rejects.toMatchObject({ isAway: false })
    }
  })
})

test('the local keyring has sealed files that others cannot read, and destroys them', async () => {
  await Promise.all([1, 2, 3].map(() => local.wrap('k2', key, context)))
  const wrapped = await local.wrap('k2', key, context)
  const names = await readdir(join(directory, 'acme'))
  expect(names.every((name) => /^[0-9a-f]{64}\.key$/.test(name))).toBe(true)
  const path = join(directory, 'acme', names[0]!)
  expect((await stat(path)).mode & 0o077).toBe(0)
  const another = openLocalKeyring(directory, randomBytes(32))
  await expect(another.unwrap('k2', wrapped, context)).rejects.toMatchObject({ isAway: true })
  await readFile(path)
  await local.destroyKeysOf!('acme')
  await local.destroyKeysOf!('acme')
  expect(await readdir(directory)).not.toContain('acme')
  await expect(local.unwrap('k2', wrapped, context)).rejects.toMatchObject({ isAway: false })
})

test('a name is another key of the local keyring for each tenant', async () => {
  const wrapped = await local.wrap('same', key, { ...context, tenant: 'acme-eu' })
  await expect(local.unwrap('same', wrapped, context)).rejects.toMatchObject({ isAway: false })
  await local.wrap('same', key, context)
  await expect(local.unwrap('same', wrapped, context)).rejects.toMatchObject({ isAway: false })
  const bytesOf = async (tenant: string) => {
    const folder = join(directory, tenant)
    return Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'hex')))
  }
  const others = await bytesOf('acme-eu')
  expect(others).toHaveLength(1)
  expect(await bytesOf('acme')).not.toContain(others[0])
  await local.destroyKeysOf!('acme')
  expect(await local.unwrap('same', wrapped, { ...context, tenant: 'acme-eu' })).toEqual(key)
})

test('AWS KMS is asked as its documentation says, and what it refuses is told apart from its absence', async () => {
  const { headers, body } = kms.requests[0]!
  expect(headers['x-amz-target']).toBe('TrentService.Encrypt')
  expect(headers.authorization).toContain('/eu-west-1/kms/aws4_request')
  expect(body.EncryptionContext).toEqual({ 'org-memory-hub:tenant': 'acme', 'org-memory-hub:content-key': 'ck_1' })
  expect(kms.requests.some((one) => one.headers.authorization!.includes('/eu-central-1/kms/'))).toBe(true)
  await expect(aws.wrap('alias/two', key, context)).rejects.toMatchObject({ isAway: false })
  kms.fails = 500
  await expect(aws.wrap('alias/one', key, context)).rejects.toMatchObject({ isAway: true })
  kms.fails = undefined
  expect(aws.problemOf('../x')).toContain('AWS KMS')
  await expect(openAwsKms({ kmsEndpoint: kms.url, credentials }).wrap('alias/one', key, context)).rejects.toThrow(
    'AWS_REGION',
  )
})

test('Vault is asked as its documentation says, and what it refuses is told apart from its absence', async () => {
  const { path, headers, body } = vault.requests[0]!
  expect(path).toBe('/v1/transit/encrypt/one')
  expect(headers).toMatchObject({ 'x-vault-token': 'a-token', 'x-vault-namespace': 'ns1' })
  expect(body).toMatchObject({ plaintext: key.toString('base64'), associated_data: expect.any(String) })
  await expect(transit.wrap('three', key, context)).rejects.toMatchObject({ isAway: false })
  vault.fails = 503
  await expect(transit.wrap('one', key, context)).rejects.toMatchObject({ isAway: true })
  vault.fails = undefined
  const stranger = openVaultTransit({ address: vault.url, token: 'wrong' })
  await expect(stranger.wrap('one', key, context)).rejects.toMatchObject({ isAway: false })
  for (const name of ['../sys/one', 'a//b', 'x?y', '']) expect(transit.problemOf(name)).toContain('transit')
})
