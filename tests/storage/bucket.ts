import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
