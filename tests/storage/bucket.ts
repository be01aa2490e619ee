import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
// @ts-expect-error it comes without types
import S3rver from 's3rver'

export const bucketName = 'hub-files'

export interface Bucket {
  /** For HUB_STORAGE_URL. */
  url: string
  /** The server keeps its bucket there. */
  directory: string
  stop(): Promise<void>
}

/** A server of the S3 protocol on this machine, with an empty bucket. */
export async function startBucket(prefix = ''): Promise<Bucket> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-bucket-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucketName }],
  })
  storeBeforeAnswering(server.store)
  const { port } = (await server.run()) as AddressInfo
  const query = new URLSearchParams({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    access_key_id: 'S3RVER',
    secret_access_key: 'S3RVER',
  })
  return {
    url: `s3://${bucketName}/${prefix}?${query}`,
    directory: join(directory, bucketName),
    stop: async () => {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

interface StoredObject {
  bucket: string
  key: string
  content: Buffer | Readable
  metadata: object
}

interface Store {
  getResourcePath(bucket: string, key: string | undefined, resource: string): string
  putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>
  putObject(object: StoredObject): Promise<Stored>
  putPart(bucket: string, uploadId: string, partNumber: number, content: Readable): Promise<Stored>
}

interface Stored {
  size: number
  md5: string
}

/** s3rver answers before its file is written. S3 promises that a read after the answer finds the whole object. */
function storeBeforeAnswering(store: Store): void {
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const stored = await storeFile(store.getResourcePath(bucket, key, 'object'), content)
    await store.putMetadata(bucket, key, metadata, stored.md5)
    return stored
  }
  store.putPart = async (bucket, uploadId, partNumber, content) => {
    const path = join(store.getResourcePath(bucket, undefined, 'uploads'), uploadId, `${partNumber}`)
    const stored = await storeFile(path, content)
    await writeFile(`${path}.md5`, stored.md5)
    return stored
  }
}

async function storeFile(path: string, content: Buffer | Readable): Promise<Stored> {
  const hash = createHash('md5')
  let size = 0
  await mkdir(dirname(path), { recursive: true })
  const unfinished = `${path}.${process.hrtime.bigint()}.unfinished`
  await pipeline(
    Buffer.isBuffer(content) ? Readable.from([content]) : content,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        hash.update(piece)
        size += piece.length
        yield piece
      }
    },
    createWriteStream(unfinished),
  )
  await rename(unfinished, path)
  return { size, md5: hash.digest('hex') }
}
