import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockBytes, encryptedStorage, headerBytes, sealedKeyOf } from '../../server/storage/encrypted-storage.ts'
import { checkStorage, openStorage } from '../../server/storage/open-storage.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { type Bucket, startBucket } from './bucket.ts'

let directory: string
let bucket: Bucket
let wholeBucket: Bucket

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-storage-'))
  bucket = await startBucket('some/where')
  wholeBucket = await startBucket()
})

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
  await Promise.all([bucket.stop(), wholeBucket.stop()])
})

async function textOf(content: Promise<Readable | undefined>): Promise<string | undefined> {
  const found = await content
  return found && (await buffer(found)).toString()
}

async function keysOf(storage: Storage, prefix: string): Promise<string[]> {
  return (await Array.fromAsync(storage.list(prefix))).sort()
}

const fileKey = { key: randomBytes(32), sealed: Buffer.from('a sealed key') }

const kinds: [string, () => Storage][] = [
  ['a directory', () => openStorage({ storageUrl: undefined, dataDir: join(directory, 'data') })],
  ['a directory by its URL', () => openStorage({ storageUrl: `file://${directory}/by-url`, dataDir: '/nowhere' })],
  ['a bucket', () => openStorage({ storageUrl: wholeBucket.url, dataDir: '/nowhere' })],
  ['a part of a bucket', () => openStorage({ storageUrl: bucket.url, dataDir: '/nowhere' })],
  ['an encrypted directory', () => encryptedStorage(inDirectory('encrypted'), fileKey)],
  ['an encrypted bucket', () => encryptedStorage(inBucket('encrypted'), fileKey)],
]

const inDirectory = (name: string) => openStorage({ storageUrl: `file://${directory}/${name}`, dataDir: '/nowhere' })
const inBucket = (name: string) => openStorage({ storageUrl: `${wholeBucket.url}/${name}`, dataDir: '/nowhere' })

describe.each(kinds)('%s', (_, open) => {
  test('gives back what was written, whole and in ranges', async () => {
    const storage = open()
    await storage.write('exports/acme/a.jsonl', Buffer.from('0123456789'))
    expect(await textOf(storage.read('exports/acme/a.jsonl'))).toBe('0123456789')
    expect(await textOf(storage.read('exports/acme/a.jsonl', { start: 0, end: 1 }))).toBe('01')
    expect(await textOf(storage.read('exports/acme/a.jsonl', { start: 3, end: 5 }))).toBe('345')
    expect(await textOf(storage.read('exports/acme/a.jsonl', { start: 9, end: 9 }))).toBe('9')
    expect(await storage.size('exports/acme/a.jsonl')).toBe(10)
  })

  test('takes a stream of any length, and an empty one', async () => {
    const storage = open()
    const pieces = [randomBytes(9_000_000), randomBytes(17_000_000), randomBytes(1), randomBytes(8_000_000)]
    await storage.write('large', Readable.from(pieces))
    expect(await storage.size('large')).toBe(34_000_001)
    const found = await storage.read('large')
    expect((await buffer(found as Readable)).equals(Buffer.concat(pieces))).toBe(true)
    await storage.write('empty', Readable.from([]))
    expect(await textOf(storage.read('empty'))).toBe('')
  })

  test('replaces what is there', async () => {
    const storage = open()
    await storage.write('again', Buffer.from('first, and longer'))
    await storage.write('again', Buffer.from('second'))
    expect(await textOf(storage.read('again'))).toBe('second')
  })

  test('has nothing of what is not there', async () => {
    const storage = open()
    expect(await storage.read('missing/file')).toBeUndefined()
    expect(await storage.size('missing/file')).toBeUndefined()
    await storage.delete('missing/file')
    expect(await keysOf(storage, 'missing/')).toEqual([])
  })

  test('lists by prefix, and not the neighbours', async () => {
    const storage = open()
    for (const key of ['list/acme/1', 'list/acme/deep/2', 'list/acme2/3', 'list/other']) {
      await storage.write(key, Buffer.from(key))
    }
    expect(await keysOf(storage, 'list/acme/')).toEqual(['list/acme/1', 'list/acme/deep/2'])
    expect(await keysOf(storage, 'list/acme')).toEqual(['list/acme/1', 'list/acme/deep/2', 'list/acme2/3'])
    await storage.delete('list/acme/1')
    await storage.delete('list/acme/deep/2')
    expect(await keysOf(storage, 'list/acme/')).toEqual([])
    expect(await keysOf(storage, 'list/')).toEqual(['list/acme2/3', 'list/other'])
  })

  test('has nothing of a write that broke off, and throws its error', async () => {
    const storage = open()
    const content = new PassThrough()
    const written = storage.write('broken/file', content)
    content.write(randomBytes(20_000_000), () => content.destroy(new Error('the source is gone')))
    await expect(written).rejects.toThrow('the source is gone')
    expect(await storage.read('broken/file')).toBeUndefined()
    expect(await keysOf(storage, 'broken/')).toEqual([])
    const early = new PassThrough()
    early.destroy(new Error('gone before'))
    await expect(storage.write('broken/file', early)).rejects.toThrow('gone before')
  })

  test('has nothing of a write that has not ended', async () => {
    const storage = open()
    await storage.write('half/file', Buffer.from('before'))
    const content = new PassThrough()
    const written = storage.write('half/file', content)
    await new Promise<void>((resolve) => content.write('half', () => resolve()))
    expect(await textOf(storage.read('half/file'))).toBe('before')
    expect(await keysOf(storage, 'half/')).toEqual(['half/file'])
    content.end('and half')
    await written
    expect(await textOf(storage.read('half/file'))).toBe('halfand half')
  })

  test('takes no key that leads elsewhere', async () => {
    const storage = open()
    for (const key of ['../out', 'a/../../out', '/etc/passwd', 'a//b', 'a/', '', 'a\0b', 'a b', '.hidden', 'a/.b']) {
      await expect(storage.write(key, Buffer.from('x')), key).rejects.toThrow('cannot be the key')
      await expect(storage.read(key), key).rejects.toThrow('cannot be the key')
      await expect(storage.delete(key), key).rejects.toThrow('cannot be the key')
    }
  })

  test('says that it can be used', async () => {
    const storage = open()
    await checkStorage(storage)
    expect(await keysOf(storage, 'checks/')).toEqual([])
  })
})

describe('a directory', () => {
  test('is made for its user alone, and so are the files', async () => {
    const dataDir = join(directory, 'private')
    const storage = openStorage({ storageUrl: undefined, dataDir })
    await storage.write('a/b', Buffer.from('x'))
    expect((await stat(join(dataDir, 'storage'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'storage/a'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'storage/a/b'))).mode & 0o777).toBe(0o600)
  })

  test('keeps nothing on the disk of what broke off or was deleted', async () => {
    const dataDir = join(directory, 'clean')
    const storage = openStorage({ storageUrl: undefined, dataDir })
    const content = new PassThrough()
    const written = storage.write('a/b/c', content)
    await expect.poll(() => readdir(join(dataDir, 'storage/a/b')).catch(() => [])).toHaveLength(1)
    content.destroy(new Error('gone'))
    await expect(written).rejects.toThrow('gone')
    expect(await readdir(join(dataDir, 'storage/a/b'))).toEqual([])
    await storage.write('a/b/c', Buffer.from('x'))
    await storage.delete('a/b/c')
    expect(await readdir(join(dataDir, 'storage'))).toEqual([])
  })

  test('deleting takes along what a writer has begun, which then fails', async () => {
    const dataDir = join(directory, 'late')
    const storage = openStorage({ storageUrl: undefined, dataDir })
    const content = new PassThrough()
    const written = storage.write('a/b', content)
    await expect.poll(() => readdir(join(dataDir, 'storage/a')).catch(() => [])).toHaveLength(1)
    await storage.delete('a/b')
    content.end('and half')
    await expect(written).rejects.toMatchObject({ slug: 'hub-unavailable' })
    expect(await storage.size('a/b')).toBeUndefined()
    expect(await readdir(join(dataDir, 'storage'))).toEqual([])
  })

  test('a reader keeps a file that is deleted or replaced', async () => {
    const storage = openStorage({ storageUrl: undefined, dataDir: join(directory, 'reader') })
    await storage.write('a', Buffer.from('before'))
    const found = await storage.read('a')
    await storage.write('a', Buffer.from('after'))
    await storage.delete('a')
    expect((await buffer(found as Readable)).toString()).toBe('before')
  })

  test('that cannot be one is told', async () => {
    const storage = openStorage({ storageUrl: 'file:///dev/null/storage', dataDir: directory })
    await expect(checkStorage(storage)).rejects.toMatchObject({ slug: 'hub-unavailable' })
  })
})

describe('an encrypted file', () => {
  const sizes = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 2 * blockBytes, 2 * blockBytes + 100]

  test.each(sizes)('of %i bytes has the size and the ranges of its plaintext', async (bytes) => {
    const stored = inDirectory('sizes')
    const storage = encryptedStorage(stored, fileKey)
    const plain = randomBytes(bytes)
    await storage.write('file', Readable.from([plain.subarray(0, 7), plain.subarray(7)]))
    expect([await storage.size('file'), await stored.size('file')]).not.toEqual([bytes, bytes])
    expect(await storage.size('file')).toBe(bytes)
    expect((await buffer((await storage.read('file'))!)).equals(plain)).toBe(true)
    const edges = [0, 1, blockBytes - 1, blockBytes, bytes - 1].filter((at) => at >= 0 && at < bytes)
    for (const start of edges) {
      for (const end of edges.filter((at) => at >= start)) {
        const part = await buffer((await storage.read('file', { start, end }))!)
        expect(part.equals(plain.subarray(start, end + 1)), `${start}-${end}`).toBe(true)
      }
    }
  })

  test('has nothing of its content in the storage, and its sealed key in clear', async () => {
    const stored = inDirectory('hidden')
    const storage = encryptedStorage(stored, fileKey)
    await storage.write('file', Buffer.from('the needle '.repeat(20_000)))
    expect((await buffer((await stored.read('file'))!)).includes('needle')).toBe(false)
    expect(await sealedKeyOf(stored, 'file')).toEqual(fileKey.sealed)
    await stored.write('clear', Buffer.from('{"in":"clear"}'))
    expect([await sealedKeyOf(stored, 'clear'), await sealedKeyOf(stored, 'missing')]).toEqual([undefined, undefined])
  })

  const wholeBlock = blockBytes + 28
  test.each<[string, (bytes: Buffer) => Buffer, string]>([
    ['a changed byte', (bytes) => bytes.fill(bytes[headerBytes + 50]! ^ 1, headerBytes + 50, headerBytes + 51), 'file'],
    ['a cut end', (bytes) => bytes.subarray(0, -1), 'file'],
    ['a missing last block', (bytes) => bytes.subarray(0, headerBytes + wholeBlock), 'file'],
    ['part of a block', (bytes) => bytes.subarray(0, headerBytes + 3), 'file'],
    ['no blocks at all', (bytes) => bytes.subarray(0, headerBytes), 'file'],
    ['nothing in it', () => Buffer.alloc(0), 'file'],
    [
      'blocks in another order',
      (bytes) => {
        const [head, one, two] = [headerBytes, headerBytes + wholeBlock, headerBytes + 2 * wholeBlock]
        const parts = [
          bytes.subarray(0, head),
          bytes.subarray(one, two),
          bytes.subarray(head, one),
          bytes.subarray(two),
        ]
        return Buffer.concat(parts)
      },
      'file',
    ],
    ['another name', (bytes) => bytes, 'other'],
  ])('does not open with %s', async (_case, change, name) => {
    const stored = inDirectory('damaged')
    const storage = encryptedStorage(stored, fileKey)
    await storage.write('file', randomBytes(2 * blockBytes + 100))
    const bytes = await buffer((await stored.read('file'))!)
    await stored.write(name, change(bytes))
    await expect(buffer((await storage.read(name))!)).rejects.toThrow(
      'cannot be decrypted: it was changed or truncated',
    )
  })

  test('does not open with another key', async () => {
    await encryptedStorage(inDirectory('keys'), fileKey).write('file', Buffer.from('x'))
    const other = encryptedStorage(inDirectory('keys'), { ...fileKey, key: randomBytes(32) })
    await expect(buffer((await other.read('file'))!)).rejects.toThrow('cannot be decrypted')
  })
})

describe('a bucket', () => {
  test('keeps nothing of what broke off', async () => {
    const storage = openStorage({ storageUrl: wholeBucket.url, dataDir: '/nowhere' })
    await expect(storage.write('gone', brokenAfter(40_000_000))).rejects.toThrow('broke off')
    expect(await storage.size('gone')).toBeUndefined()
  })

  test('that is not there is told', async () => {
    const storage = openStorage({ storageUrl: bucket.url.replace('hub-files', 'other-files'), dataDir: '/nowhere' })
    await expect(checkStorage(storage)).rejects.toMatchObject({ slug: 'hub-unavailable' })
    await expect(storage.read('a')).rejects.toMatchObject({ slug: 'hub-unavailable' })
  })
})

function brokenAfter(bytes: number): Readable {
  return Readable.from(
    (async function* () {
      for (let sent = 0; sent < bytes; sent += 1_000_000) yield Buffer.alloc(1_000_000)
      throw new Error('broke off')
    })(),
  )
}
