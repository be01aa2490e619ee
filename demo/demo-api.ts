/**
 * The calls that the demo loader makes. Every call waits as `Retry-After` says after 429 and 503, and throws for any
 * other error.
 */
export interface DemoApi {
  get<T>(path: string, query?: Record<string, string | number | boolean | undefined>): Promise<T>
  post<T>(path: string, options?: { body?: unknown; idempotencyKey?: string }): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
  delete<T>(path: string): Promise<T>
  /**
   * Calls the SCIM server of the Hub.
   * @param path from the root of the Hub, such as `/scim/v2/demo/Users`
   * @param token the bearer token of the directory connection
   */
  scim<T>(method: string, path: string, token: string, body?: unknown): Promise<T>
}

/** The progress of a load. `done` never falls, and ends at `total`. */
export interface DemoProgress {
  /** Short label of the current step: "People", "Telemetry". */
  step: string
  done: number
  total: number
}

export interface DemoOptions {
  /** Text of `demo/data/azure-llm-inference-conv-2023.csv`. */
  traceCsv: string
  onProgress?: (progress: DemoProgress) => void
  /** The end of the 30 days, unless an earlier load has set it. Defaults to the current time. */
  now?: Date
  /** IANA name of the zone of the working hours, unless an earlier load has set it. Defaults to the caller's zone. */
  timeZone?: string
}

/** Numbers of objects that this load wrote, and that it found from an earlier one. */
export interface DemoCounts {
  written: number
  found: number
}

/** The result of a load: the numbers of each step, and the facts of the story for links. */
export interface DemoSummary {
  starts_at: string
  ends_at: string
  time_zone: string
  /** Server time of the first record that a load wrote: no record of the demo is older. */
  written_since: string
  events: DemoCounts
  /** Seconds spent on sending events. */
  send_seconds: number
  records: DemoCounts
  people: DemoCounts
  views: DemoCounts
  failing_skill: { skill_id: string; since: string; error_codes: string[] }
  unused_skill: { skill_id: string }
  price_change: { platform: string; model: string; since: string }
  spend_jump: { archetype_id: string; from_model: string; to_model: string; since: string }
}
