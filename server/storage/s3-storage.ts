import type { Readable } from 'node:stream'
import type { CompletedPart, S3Client } from '@aws-sdk/client-s3'
import type { Disk } from 'flydrive'
import type { S3StorageSettings } from '../config/storage-url.ts'
import { checkKey, contentOf, failureOf, type Storage, storageFailed } from './storage.ts'

const connectionMsMax = 5000
const silenceMsMax = 60_000

interface Parts {
  sdk: typeof import('@aws-sdk/client-s3')
  client: S3Client
  disk: Disk
}

/** Stores files in a bucket of Amazon S3, or of a service with the same protocol. */
export class S3Storage implements Storage {
  readonly place: string
  readonly #settings: S3StorageSettings
  #parts: Promise<Parts> | undefined

  constructor(settings: S3StorageSettings) {
    this.#settings = settings
    this.place = `the bucket ${settings.bucket}${settings.prefix && `, under ${settings.prefix}/`}`
  }

  async write(key: string, content: Readable | Uint8Array): Promise<void> {
    const target = this.#target(key)
    const source = contentOf(content)
    try {
      const { sdk, client } = await this.#open()
      await uploadToS3(sdk, client, target, source)
    } catch (error) {
      throw failureOf(error)
    }
  }

  async read(key: string, range?: { start: number; end: number }): Promise<Readable | undefined> {
    const target = this.#target(key)
    try {
      const { sdk, client } = await this.#open()
      const Range = range && `bytes=${range.start}-${range.end}`
      const { Body } = await client.send(new sdk.GetObjectCommand({ ...target, Range }))
      return Body as Readable
    } catch (error) {
      if (isMissing(error)) return undefined
      throw storageFailed(error)
    }
  }

  async size(key: string): Promise<number | undefined> {
    const target = this.#target(key)
    try {
      const { sdk, client } = await this.#open()
      const { ContentLength } = await client.send(new sdk.HeadObjectCommand(target))
      return ContentLength
    } catch (error) {
      if (isMissing(error)) return undefined
      throw storageFailed(error)
    }
  }

  async delete(key: string): Promise<void> {
    const target = this.#target(key)
    try {
      const { disk, sdk, client } = await this.#open()
      await disk.delete(target.Key)
      await abortUnfinished(sdk, client, target)
    } catch (error) {
      if (!isMissing(error)) throw storageFailed(error)
    }
  }

  async *list(prefix: string): AsyncIterable<string> {
    if (prefix !== '') checkKey(prefix.replace(/\/$/, ''))
    const { prefix: own } = this.#settings
    const whole = own === '' ? prefix : `${own}/${prefix}`
    let paginationToken: string | undefined
    do {
      let page: Awaited<ReturnType<Disk['listAll']>>
      try {
        const { disk } = await this.#open()
        page = await disk.listAll(whole === '' ? '/' : whole, {
          recursive: true,
          ...(paginationToken && { paginationToken }),
        })
      } catch (error) {
        throw storageFailed(error)
      }
      for (const object of page.objects) {
        // flydrive removes the slash at the end of a prefix, which then also matches the neighbours.
        if (object.isFile && object.key.startsWith(whole)) yield object.key.slice(whole.length - prefix.length)
      }
      paginationToken = page.paginationToken
    } while (paginationToken)
  }

  #target(key: string): { Bucket: string; Key: string } {
    checkKey(key)
    const { bucket, prefix } = this.#settings
    return { Bucket: bucket, Key: prefix === '' ? key : `${prefix}/${key}` }
  }

  /** Loads the client on first use: it is large, and most services have no bucket. */
  #open(): Promise<Parts> {
    this.#parts ??= openParts(this.#settings)
    return this.#parts
  }
}

async function openParts({ bucket, region, endpoint, credentials }: S3StorageSettings): Promise<Parts> {
  const [sdk, { Disk }, { S3Driver }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('flydrive'),
    import('flydrive/drivers/s3'),
  ])
  const client = new sdk.S3Client({
    region: region ?? 'us-east-1',
    ...(credentials && { credentials }),
    // Services other than Amazon's seldom have a host name for each bucket, or know Amazon's newer checksums.
    ...(endpoint !== undefined && {
      endpoint,
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    requestHandler: { connectionTimeout: connectionMsMax, socketTimeout: silenceMsMax },
  })
  const disk = new Disk(new S3Driver({ client, bucket, visibility: 'private', supportsACL: false }))
  return { sdk, client, disk }
}

/** Aborts uploads left by killed writers. Writers that are still active then fail. */
async function abortUnfinished(
  sdk: Parts['sdk'],
  client: S3Client,
  { Bucket, Key }: { Bucket: string; Key: string },
): Promise<void> {
  const { Uploads = [] } = await client
    .send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key }))
    // Not every service lists uploads, and not every key may list them.
    .catch(() => ({ Uploads: [] }))
  for (const upload of Uploads) {
    if (upload.Key === Key || upload.Key?.startsWith(`${Key}.`)) {
      const { UploadId, Key: key } = upload
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key: key, UploadId }))
    }
  }
}

function isMissing(error: unknown): boolean {
  const { name } = error as Error
  return name === 'NoSuchKey' || name === 'NotFound'
}

type Sdk = typeof import('@aws-sdk/client-s3')

/** Bytes of a part. Every part but the last must have at least 5 MiB, and 10,000 are allowed: 160 GB in one file. */
const partBytes = 16 * 1024 * 1024

interface Target {
  Bucket: string
  Key: string
}

/** Uploads content to a bucket, with one part in memory. The object appears only when it is complete. */
export async function uploadToS3(
  sdk: Sdk,
  client: S3Client,
  target: Target,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const parts = partsOf(content)
  const first = await parts.next()
  const second = await parts.next()
  if (second.done) {
    await client.send(new sdk.PutObjectCommand({ ...target, Body: first.value ?? new Uint8Array() }))
    return
  }
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(target))
  const Parts: CompletedPart[] = []
  const send = async (Body: Uint8Array) => {
    const PartNumber = Parts.length + 1
    const { ETag } = await client.send(new sdk.UploadPartCommand({ ...target, UploadId, PartNumber, Body }))
    Parts.push({ PartNumber, ETag })
  }
  try {
    await send(first.value as Uint8Array)
    await send(second.value)
    for (let next = await parts.next(); !next.done; next = await parts.next()) await send(next.value)
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }))
  } catch (error) {
    await client.send(new sdk.AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {})
    throw error
  }
}

async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of content) {
    let rest = chunk
    while (bytes + rest.length >= partBytes) {
      const taken = partBytes - bytes
      yield Buffer.concat([...chunks, rest.subarray(0, taken)])
      rest = rest.subarray(taken)
      chunks = []
      bytes = 0
    }
    if (rest.length > 0) chunks.push(rest)
    bytes += rest.length
  }
  if (bytes > 0) yield Buffer.concat(chunks)
}
