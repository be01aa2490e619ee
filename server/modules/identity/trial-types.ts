/** What trying a connection found. */
export interface Trial {
  /** Every step went well. */
  ok: boolean
  steps: TrialStep[]
}

export interface TrialStep {
  name: string
  ok: boolean
  /** In words: what was found, or what is wrong and what to do. No secret, nothing of the networks behind the Hub. */
  detail: string
}
