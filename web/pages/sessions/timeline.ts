import type { ApiResponse } from '../../api/api-client.ts'

type Page = Pick<ApiResponse<'getTrace'>, 'totals' | 'steps' | 'unreadable'>
export type Step = Page['steps'][number]
export type Totals = NonNullable<Page['totals']>

/** A step and its place on the time axis, as shares of the whole duration. */
export interface TimedStep extends Step {
  /** Milliseconds since the start of the first step. */
  startMs: number
  left: number
  width: number
}

export interface Timeline {
  steps: TimedStep[]
  totals: Totals | undefined
  durationMs: number
  unreadable: number
}

/** The narrowest bar: a step of no duration is still visible. */
const widthMin = 0.004

/** Joins the loaded pages of a session or trace on one time axis. */
export function timelineOf(pages: readonly Page[]): Timeline {
  const all = pages.flatMap(({ totals }) => (totals ? [totals] : []))
  const unreadable = pages.reduce((sum, page) => sum + page.unreadable, 0)
  const totals = all.length > 0 ? all.reduce(addTotals) : undefined
  if (!totals) return { steps: [], totals, durationMs: 0, unreadable }
  const startMs = Date.parse(totals.started_at)
  const durationMs = Math.max(0, Date.parse(totals.ended_at) - startMs)
  const steps = pages.flatMap((page) => page.steps)
  return {
    ...{ totals, durationMs, unreadable },
    steps: steps.map((step) => ({ ...step, ...placeOf(Date.parse(step.ts) - startMs, step.latency_ms, durationMs) })),
  }
}

function placeOf(startMs: number, latencyMs: number, durationMs: number) {
  const share = (ms: number) => (durationMs > 0 ? Math.min(1, Math.max(0, ms / durationMs)) : 0)
  const left = Math.min(share(startMs), 1 - widthMin)
  const width = durationMs > 0 ? Math.max(widthMin, share(latencyMs)) : 1
  return { startMs, left, width: Math.min(width, 1 - left) }
}

function addTotals(one: Totals, other: Totals): Totals {
  const sums = [
    'events',
    'failures',
    'tokens_in',
    'tokens_out',
    'cost_usd_estimate',
    'cost_usd_computed',
    'unpriced',
  ] as const
  const [started_at] = [one.started_at, other.started_at].sort() as [string]
  const [ended_at] = [one.ended_at, other.ended_at].sort().reverse() as [string]
  const added = Object.fromEntries(sums.map((name) => [name, one[name] + other[name]]))
  return { started_at, ended_at, ...(added as Omit<Totals, 'started_at' | 'ended_at'>) }
}
