import { hash } from 'node:crypto'
import { keyDocumentEntry } from '../../../provenance/keys.ts'
import type { Database } from '../../db/database.ts'
import { publishedKeys, publishedKeysVersion } from './keys-store.ts'
import { publishedKeyOf } from './provenance-key.ts'

/** Publishes the public keys of all tenants' provenance keys, under opaque names. */
export class PublishedKeys {
  readonly #database: Database
  #cached: { version: string; json: string; etag: string } | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the document of `/.well-known/provenance-keys.json` as text, with a strong entity tag. */
  async document(): Promise<{ json: string; etag: string }> {
    this.#cached = await this.#database.withRegistry(async (tx) => {
      const version = await publishedKeysVersion(tx)
      if (this.#cached?.version === version) return this.#cached
      const entries = (await publishedKeys(tx)).map((row) => keyDocumentEntry(publishedKeyOf(row), sha256))
      const json = JSON.stringify({ keys: entries })
      return { version, json, etag: `"${hash('sha256', json, 'base64url')}"` }
    })
    return this.#cached
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer')
}
