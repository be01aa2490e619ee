import type { PreparedManifest } from '../../provenance/export/prepared-manifest.ts'
import type { VerificationFailure } from '../../provenance/findings.ts'

/** The verified input, as far as it limits the conclusion. */
interface Verified {
  manifest: { prepared: PreparedManifest | undefined } | undefined
  isDocument: boolean
  records: number
  /** True if the given keys may be too old: something to verify has no known key. */
  hasOldKeys: boolean
}

/** Returns the basis of the verification and its limits. */
export function trustSummary(basis: string, verified: Verified): string {
  return [basis, ...reach(verified), ...(verified.hasOldKeys ? [newerKeys] : [])].join('; ')
}

function reach({ manifest, isDocument, records }: Verified): string[] {
  if (manifest?.prepared !== undefined) return manifest.prepared.seals === undefined ? [wholeFileOnly] : []
  if (!isDocument) return [completenessUnknown(manifest !== undefined)]
  return records > 1 ? ['each record was checked by itself, and what other records there are is not part of this'] : []
}

/** @param hasManifest true if a manifest exists but is unreadable */
export function completenessUnknown(hasManifest: boolean): string {
  return `completeness is unknown, because ${hasManifest ? 'the manifest cannot be read' : 'there is no manifest'}`
}

const wholeFileOnly =
  'the rows carry no provenance (exported without include_provenance): ' +
  'only the file as a whole was compared with the signed manifest'

const newerKeys =
  'something is not signed by any of these keys: if the Hub has changed its key since you kept yours, fetch ' +
  'the key document (/.well-known/provenance-keys.json) again; its `succession` links the new keys to yours'

/** Returns true if a failure may come from keys that are older than the verified data. */
export function isKeyUnknown({ reason }: VerificationFailure): boolean {
  return /^key-unknown: |no (known )?key of the log|not signed by a trusted key|is not among the trusted/.test(reason)
}
