import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import { loadMasterKey } from '../../server/db/master-key.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../server/secrets/encryption.ts'

const master = Buffer.alloc(32, 1)
const key = deriveKey(master, 'test')

test('derived keys are 32 bytes, stable, and different for each purpose', () => {
  expect(key).toHaveLength(32)
  expect(deriveKey(master, 'test')).toEqual(key)
  expect(deriveKey(master, 'other')).not.toEqual(key)
  expect(deriveKey(Buffer.alloc(32, 2), 'test')).not.toEqual(key)
})

test('what is sealed opens with the same key and context only', () => {
  const secret = Buffer.from('a private key')
  const sealed = encryptSecret(key, secret, 'tenant/key')
  expect(decryptSecret(key, sealed, 'tenant/key')).toEqual(secret)
  expect(sealed.includes(secret)).toBe(false)
  expect(encryptSecret(key, secret, 'tenant/key')).not.toEqual(sealed)
  expect(() => decryptSecret(key, sealed, 'tenant/other')).toThrow(/cannot decrypt/)
  expect(() => decryptSecret(deriveKey(master, 'other'), sealed, 'tenant/key')).toThrow(/cannot decrypt/)
})

test('no byte of a sealed secret can be changed', () => {
  const sealed = encryptSecret(key, Buffer.from('x'), 'c')
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => decryptSecret(key, changed, 'c')).toThrow()
  }
  expect(() => decryptSecret(key, sealed.subarray(0, 20), 'c')).toThrow(/unknown format/)
})

test('the master key file is made once, private, and read by every later start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-key-'))
  const config = loadConfig({ HUB_DATA_DIR: dataDir })
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey(config)))
  expect(new Set(keys.map((each) => each.toString('hex'))).size).toBe(1)
  expect(await readdir(dataDir)).toEqual(['master.key'])
  expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600)
  await writeFile(join(dataDir, 'master.key'), 'damaged')
  await expect(loadMasterKey(config)).rejects.toThrow(/damaged/)
  const given = Buffer.alloc(32, 9)
  const configured = loadConfig({ HUB_DATA_DIR: dataDir, HUB_MASTER_KEY: given.toString('base64') })
  expect(await loadMasterKey(configured)).toEqual(given)
  await rm(dataDir, { recursive: true })
})
