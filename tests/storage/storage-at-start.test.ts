import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkStorageAtStart, openStorage } from '../../server/storage/open-storage.ts'
import { bucketName, startBucket } from './bucket.ts'

function openWithLog(storageUrl: string | undefined, dataDir = '/nowhere') {
  const errors: [{ storage: string; err: Error }, string][] = []
  const log = { info() {}, warn() {}, error: (...line: never) => void errors.push(line) }
  const storage = openStorage({ storageUrl, dataDir })
  return { errors, check: () => checkStorageAtStart(storage, { storageUrl }, log) }
}

test('a directory that can be used is found fit', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-start-'))
  await openWithLog(undefined, dataDir).check()
  await rm(dataDir, { recursive: true })
})

test('a directory that cannot be used ends the start, and says which and what to do', async () => {
  const { check } = openWithLog('file:///dev/null/files')
  await expect(check()).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/^Files cannot be stored in \/dev\/null\/files: ENOTDIR/),
    fix: expect.stringContaining('HUB_STORAGE_URL'),
  })
})

test('a bucket that cannot be used is told, and does not keep the Hub from starting', async () => {
  const bucket = await startBucket()
  const { check, errors } = openWithLog(bucket.url.replace(bucketName, 'no-such-bucket'))
  await check()
  await expect.poll(() => errors.length).toBe(1)
  expect(errors[0]?.[0]).toMatchObject({ storage: 'the bucket no-such-bucket' })
  expect(errors[0]?.[1]).toContain('HUB_STORAGE_URL')
  expect(JSON.stringify(errors)).not.toContain('S3RVER')
  await bucket.stop()
})
