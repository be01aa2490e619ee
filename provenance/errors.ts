/**
 * Identifies a defect in the input of a provenance function. Stable: verifiers in other languages use the same codes.
 */
export type ProvenanceErrorCode =
  | 'not-json'
  | 'too-deep'
  | 'encoding-malformed'
  | 'hash-malformed'
  | 'proof-malformed'
  | 'key-malformed'
  | 'note-malformed'
  | 'seal-malformed'
  | 'cosign-malformed'
  | 'cosign-version-unsupported'
  | 'manifest-malformed'

/** The only error this directory throws for bad input. `message` states what is wrong and where. */
export class ProvenanceError extends Error {
  readonly code: ProvenanceErrorCode

  constructor(code: ProvenanceErrorCode, message: string) {
    super(message)
    this.name = 'ProvenanceError'
    this.code = code
  }
}
