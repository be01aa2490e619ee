/** The provenance core, specified in docs/provenance.md and docs/provenance-log.md. Has no dependencies; runs in Node and browsers. */
export type { Sha256 } from './bytes.ts'
export { canonicalDepthMax, canonicalize } from './canonical.ts'
export { type Checkpoint, checkpointText, parseCheckpoint } from './checkpoint.ts'
export { joinRoots, rootOfRange, type Subtree, subtreesOf, TreeBuilder } from './compact-range.ts'
export {
  type ConsistencyProof,
  consistencyPath,
  verifyConsistency,
  verifyConsistencyAsync,
} from './consistency.ts'
export { type Cosign, cosignOfLeaf, cosignsOfSeal, decodeCosign, encodeCosign, sealRecords } from './cosign.ts'
export {
  type CertificateChecks,
  type CertificateFailure,
  type CertificateResult,
  type DeletionCertificate,
  isDeletionCertificate,
  verifyDeletionCertificate,
  verifyDeletionCertificateSync,
} from './deletion-certificate.ts'
export { ProvenanceError, type ProvenanceErrorCode } from './errors.ts'
export { ExportLines } from './export/export-lines.ts'
export { ExportVerifier, type FileDigest, type VerificationReport } from './export/export-verifier.ts'
export type { ManifestSource } from './export/manifest-reader.ts'
export { type PreparedManifest, prepareManifest } from './export/prepared-manifest.ts'
export { type ExportInput, verifyExport } from './export/verify-export.ts'
export type { VerificationFailure } from './findings.ts'
export { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
export {
  type Succession,
  type SuccessionStatement,
  successionNote,
  successionNoteText,
  verifySuccession,
  verifySuccessionSync,
} from './key-succession.ts'
export {
  type KeyDocument,
  type KeyDocumentEntry,
  type KeyRing,
  keyDocumentEntry,
  keyIdOf,
  parseKeyDocument,
  parseKeyDocumentAsync,
  type VerifierKey,
} from './keys.ts'
export { logLeafHash, sealNote, sealNoteOfRecord, signedNote } from './log.ts'
export { inclusionPath, merkleRoot, nodeHash, rootFromInclusionPath } from './merkle.ts'
export {
  formatNote,
  formatVkey,
  type Note,
  type NoteKey,
  type NoteSignature,
  parseNote,
  parseVkey,
  verifyNote,
  verifyNoteSync,
} from './note.ts'
export {
  type BundleChecks,
  type BundleFailure,
  type BundleResult,
  type EarlierState,
  isProofBundle,
  type ProofBundle,
  proofBundleVersion,
  verifyProofBundle,
  verifyProofBundleSync,
} from './proof-bundle.ts'
export { formatRecordHash, parseRecordHash, recordHash } from './record-hash.ts'
export {
  buildSeal,
  leafHash,
  type Seal,
  type SealInput,
  type SealStatement,
  sealNoteText,
  sealSizeMax,
} from './seal.ts'
export {
  type SignedSkillManifest,
  type SkillManifestExpectation,
  type SkillManifestResult,
  type SkillManifestStatement,
  signSkillManifest,
  skillManifestNoteText,
  verifySkillManifest,
  verifySkillManifestSync,
} from './skill-manifest.ts'
export { bufferedHash, type StreamHash } from './stream-hash.ts'
export { type AsyncCrypto, runAsync, runSync, type SyncAsyncTask, type SyncCrypto } from './sync-async-runner.ts'
export {
  type Checks,
  type Failure,
  type FailureCode,
  itemOfResponse,
  supportedSchemaVersions,
  unhashedMembers,
  type VerifyItem,
  type VerifyResult,
  verifyRecord,
  verifyRecordSync,
  verifyRecords,
  verifyRecordsSync,
} from './verify.ts'
