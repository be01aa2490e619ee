import { hash } from 'node:crypto'
import { keyDocumentEntry } from '../../../provenance/keys.ts'
import type { Database } from '../../db/database.ts'
import { type PublishedKeyRow, publishedKeys, publishedKeysVersion } from './keys-store.ts'

export interface PublishedKeys {
  /** Returns the document of `/.well-known/provenance-keys.json` as text, with a strong entity tag. */
  document(): Promise<{ json: string; etag: string }>
}

/** Publishes the public keys of all tenants' provenance keys, under opaque names. */
export function createPublishedKeys(deps: { database: Database }): PublishedKeys {
  let cached: { version: string; json: string; etag: string } | undefined
  return {
    async document() {
      cached = await deps.database.withRegistry(async (tx) => {
        const version = await publishedKeysVersion(tx)
        if (cached?.version === version) return cached
        const json = JSON.stringify({ keys: (await publishedKeys(tx)).map(entryOf) })
        return { version, json, etag: `"${hash('sha256', json, 'base64url')}"` }
      })
      return cached
    },
  }
}

function entryOf(row: PublishedKeyRow) {
  return keyDocumentEntry(
    {
      keyId: row.key_id,
      name: row.name,
      publicKey: row.public_key,
      createdAt: row.created_at,
      ...(row.retired_at === null ? {} : { retiredAt: row.retired_at }),
      ...(row.succession === null ? {} : { succession: row.succession }),
    },
    (bytes) => hash('sha256', bytes, 'buffer'),
  )
}
