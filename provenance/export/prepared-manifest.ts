import { utf8 } from '../bytes.ts'
import { canonicalize } from '../canonical.ts'
import { ProvenanceError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { SealIndex } from '../seal-index.ts'
import { digestOf, type StreamHash } from '../stream-hash.ts'
import type { SyncAsyncTask } from '../sync-async-runner.ts'
import { type ManifestHead, manifestHeadIn, sealEntryIn } from './manifest-check.ts'
import { type ManifestSource, readManifestHead, readManifestSeals } from './manifest-reader.ts'

/** A manifest that was read once, completely. Nothing in it is verified yet. */
export type PreparedManifest = {
  readonly head: ManifestHead
  /** The parsed members, which the signature covers. `seals` is only counted and hashed. */
  readonly members: JsonObject
  /** Undefined without `seals`: rows without provenance. */
  readonly seals:
    | { readonly count: number; readonly sha256: Uint8Array; readonly index: SealIndex; all(): Iterable<JsonValue> }
    | undefined
}

/**
 * Reads a manifest. Throws ProvenanceError `manifest-malformed` for a malformed one, regardless of its signature.
 *
 * @param hash a fresh instance, which is consumed
 */
export function* prepareManifest(source: ManifestSource, hash: StreamHash): SyncAsyncTask<PreparedManifest> {
  const index = new SealIndex()
  let count = 0
  const members = readManifestHead(source, (seal) => {
    const entry = sealEntryIn(seal, count)
    if (entry.kind === 'rows' && !index.add(entry.sealId)) {
      throw new ProvenanceError(
        'manifest-malformed',
        `/seals/${count} of the manifest names a seal for the second time`,
      )
    }
    hash.update(utf8(`${canonicalize(seal)}\n`))
    count++
  })
  const head = manifestHeadIn(members)
  if (members.seals === undefined) return { head, members, seals: undefined }
  if (members.seals !== true) throw new ProvenanceError('manifest-malformed', '/seals of the manifest is not an array')
  const sha256 = yield* digestOf(hash)
  return { head, members, seals: { count, sha256, index, all: () => readManifestSeals(source) } }
}
