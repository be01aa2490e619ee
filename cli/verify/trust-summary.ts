import type { VerificationFailure } from '../../provenance/findings.ts'
import type { FileVerification } from './verify-file.ts'

/** What was verified, as far as it bears on how much that shows. */
interface Verified {
  manifest: FileVerification['manifest']
  isDocument: boolean
  records: number
  /** Keys of one's own, and none of them signed something that is to be verified. */
  hasOldKeys: boolean
}

/** What verification rests on, and how far that reaches. */
export function trustSummary(basis: string, verified: Verified): string {
  return [basis, ...reach(verified), ...(verified.hasOldKeys ? [newerKeys] : [])].join('; ')
}

function reach({ manifest, isDocument, records }: Verified): string[] {
  if (manifest?.prepared !== undefined) return manifest.prepared.seals === undefined ? [wholeFileOnly] : []
  if (!isDocument) return [completenessUnknown(manifest !== undefined)]
  return records > 1 ? ['each record was checked by itself, and what other records there are is not part of this'] : []
}

/** @param hasManifest there is one, which cannot be read */
export function completenessUnknown(hasManifest: boolean): string {
  return `completeness is unknown, because ${hasManifest ? 'the manifest cannot be read' : 'there is no manifest'}`
}

const wholeFileOnly =
  'the rows carry no provenance (exported without include_provenance): ' +
  'only the file as a whole was compared with the signed manifest'

const newerKeys =
  'something is not signed by any of these keys: if the Hub has changed its key since you kept yours, fetch ' +
  'the key document (/.well-known/provenance-keys.json) again; its `succession` links the new keys to yours'

/** Whether a failure may come of keys that are older than what they are to verify. */
export function isKeyUnknown({ reason }: VerificationFailure): boolean {
  return /^key-unknown: |no (known )?key of the log|not signed by a trusted key|is not among the trusted/.test(reason)
}
