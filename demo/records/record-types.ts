/** A source that outputs and decisions draw on. */
export interface DemoArtifact {
  /** Name by which other records of the demo refer to it. */
  ref: string
  title: string
  mediaType: string
  /** Below the wiki of the company. */
  path: string
  text: string
  /** Refs of records that it belongs to. */
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
  /** Also the ref. */
  id: string
  subject: string
  outcome: string
  rationale: string
  role: string
  related: readonly string[]
}
