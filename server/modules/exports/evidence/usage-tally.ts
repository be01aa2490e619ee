import type { JsonObject } from '../../../../provenance/json.ts'

/** Maximum number of skills, and of models, that are counted separately. */
const keysMax = 1000
const others = '(others)'

interface Counts {
  invocations: number
  failed: number
  tokens_in: number
  tokens_out: number
  reported_cost_usd_micros: number
  calculated_cost_usd_micros: number
}

/** Sums up the records of a period in bounded memory. */
export class UsageTally {
  readonly #records = new Map<string, number>()
  readonly #total = newCounts()
  readonly #bySkill = new Map<string, Counts>()
  readonly #byModel = new Map<string, Counts>()
  #contentOmitted = 0

  add(members: JsonObject): void {
    const type = String(members.record_type)
    this.#records.set(type, (this.#records.get(type) ?? 0) + 1)
    if (members.content_omitted === true) this.#contentOmitted += 1
    if (type !== 'telemetry_event' || members.content_omitted === true) return
    addEvent(this.#total, members)
    addEvent(countsIn(this.#bySkill, members.skill_id), members)
    addEvent(countsIn(this.#byModel, members.llm_model), members)
  }

  /** Returns the sums in the form of `usage.json`. Costs are in millionths of a US dollar. */
  result() {
    const rows = (counts: ReadonlyMap<string, Counts>) =>
      [...counts]
        .sort(([one, a], [other, b]) => b.invocations - a.invocations || (one < other ? -1 : 1))
        .map(([key, count]) => ({ key, ...count }))
    return {
      records: Object.fromEntries([...this.#records].sort()),
      records_without_content: this.#contentOmitted,
      telemetry: this.#total,
      by_skill: rows(this.#bySkill),
      by_model: rows(this.#byModel),
    }
  }
}

export type Usage = ReturnType<UsageTally['result']>

function newCounts(): Counts {
  return {
    invocations: 0,
    failed: 0,
    tokens_in: 0,
    tokens_out: 0,
    reported_cost_usd_micros: 0,
    calculated_cost_usd_micros: 0,
  }
}

function countsIn(counts: Map<string, Counts>, value: unknown): Counts {
  const named = typeof value === 'string' ? value : '(none)'
  const key = counts.has(named) || counts.size < keysMax ? named : others
  const found = counts.get(key) ?? newCounts()
  counts.set(key, found)
  return found
}

function addEvent(counts: Counts, event: JsonObject): void {
  counts.invocations += 1
  if (event.success === false) counts.failed += 1
  counts.tokens_in += numberOf(event.tokens_in)
  counts.tokens_out += numberOf(event.tokens_out)
  counts.reported_cost_usd_micros += Math.round(numberOf(event.cost_usd_estimate) * 1e6)
  counts.calculated_cost_usd_micros += Math.round(numberOf(event.cost_usd_computed) * 1e6)
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
