/** A source of outputs and decisions. */
export interface DemoArtifact {
  /** The name by which other records of the demo refer to it. */
  ref: string
  title: string
  mediaType: string
  /** The path below the company's wiki. */
  path: string
  text: string
  /** Refs of the records that it belongs to. */
  related?: readonly string[]
}

/** A result of a skill. */
export interface DemoOutput {
  ref: string
  title: string
  skillId: string
  text: string
  related: readonly string[]
}

export interface DemoDecision {
  /** The id, which is also the ref. */
  id: string
  subject: string
  outcome: string
  rationale: string
  role: string
  related: readonly string[]
}
