import type { CompletedPart, S3Client } from '@aws-sdk/client-s3'

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
