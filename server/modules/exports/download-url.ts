import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { Tenant } from '../../http/caller.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { DownloadRequest } from './exports-types.ts'

export type DownloadUrls = ReturnType<typeof createDownloadUrls>

/**
 * Signs download addresses that are their own credential: anyone who has one may download that file until it expires.
 * Creates an HMAC-SHA256 over tenant, job, file and the second of expiry, under a key of its own.
 */
export function createDownloadUrls(masterKey: Buffer) {
  const key = deriveKey(masterKey, 'download addresses')
  const macOf = (...parts: string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest()
  return {
    sign(tenant: Tenant, { jobId, fileName, expiresAt }: { jobId: string; fileName: string; expiresAt: string }) {
      const expires = String(secondOf(expiresAt))
      const signature = macOf(tenant.slug, jobId, fileName, expires).toString('base64url')
      const query = new URLSearchParams({ tenant: tenant.slug, expires, signature })
      return `${tenant.baseUrl}/api/v1/hub/exports/${jobId}/${fileName}?${query}`
    },
    /** Returns whether the signature matches these parts, compared in constant time. It does not check the expiry. */
    isSigned({ tenant = '', jobId, fileName, expires = '', signature = '' }: DownloadRequest): boolean {
      const expected = macOf(tenant, jobId, fileName, expires)
      const given = Buffer.from(signature, 'base64url')
      // The decoder skips characters outside of base64url, so only the exact spelling of the bytes is accepted.
      if (given.length !== expected.length || given.toString('base64url') !== signature) return false
      return timingSafeEqual(given, expected)
    },
  }
}

/** Returns the whole second of a timestamp, since 1970. */
export function secondOf(timestamp: string): number {
  return Math.floor(parseTimestamp(timestamp)!.epochMs / 1000)
}
