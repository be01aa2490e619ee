import { webhookOpenAlertsMax } from '../../../../contract/limits.ts'
import type { WindowGroup } from '../../telemetry/summary/window-types.ts'
import type { AlertRule } from '../webhooks-types.ts'
import { type MetricReading, measured, shouldOpen, type WatchedRule } from './alert-rules.ts'

/** A group for which an alert should open. */
export interface Candidate extends MetricReading {
  watch: WatchedRule
  key: string
  /** The ratio of its value to the threshold. */
  excess: number
}

/** An alert that was open when the reading started. */
export interface OpenAlert {
  webhookId: string
  ruleId: string
  key: string
}

/** The findings of a reading about the alerts and rules of one endpoint. */
export interface EndpointFindings {
  /** Readings of open alerts by {@link alertName}; groups without remaining data are absent. */
  sights: Map<string, MetricReading>
  /** Names of the alerts that were open. */
  wasOpen: Set<string>
  worst: TopCandidates
}

/** A rule, and the place of its findings. */
interface Watching {
  watch: WatchedRule
  name: string
  findings: EndpointFindings
}

interface WatchesOfMetric {
  metric: AlertRule['metric']
  /** Sorted by threshold, the lowest first: after one that is not exceeded, none is. */
  watchings: Watching[]
}

/** The rules of one window. */
interface Place {
  windowMinutes: number
  metrics: WatchesOfMetric[]
  /** Open alerts by key, then by name. */
  open: Map<string, Map<string, Watching>>
}

export function alertName({ ruleId, key }: { ruleId: string; key: string }): string {
  return `${ruleId} ${key}`
}

export function watchName({ webhookId, ruleId }: Pick<OpenAlert, 'webhookId' | 'ruleId'>): string {
  return `${webhookId} ${ruleId}`
}

/** Compares the groups of a reading with all rules that it serves. It may take several turns. */
export class AlertFindings {
  /** Windows in minutes, the longest first. */
  readonly windowMinutes: readonly number[]
  readonly endpoints = new Map<string, EndpointFindings>()
  readonly #places: Place[]
  readonly #watchings: ReadonlyMap<string, Watching>

  constructor(watches: readonly WatchedRule[]) {
    const watchings = watches.map((watch) => ({ watch, name: watchName(watch), findings: this.#of(watch.webhookId) }))
    this.#watchings = new Map(watchings.map((watching) => [watching.name, watching]))
    const byWindow = Map.groupBy(watchings, ({ watch }) => watch.rule.window_minutes)
    this.windowMinutes = [...byWindow.keys()].sort((a, b) => b - a)
    this.#places = this.windowMinutes.map((windowMinutes) => ({
      windowMinutes,
      metrics: [...Map.groupBy(byWindow.get(windowMinutes)!, ({ watch }) => watch.rule.metric)].map(
        ([metric, those]) => ({
          metric,
          watchings: those.toSorted((a, b) => a.watch.rule.above - b.watch.rule.above),
        }),
      ),
      open: new Map(),
    }))
  }

  /** Adds an open alert. Add all of them before the first group. */
  addOpen(alert: OpenAlert): void {
    const watching = this.#watchings.get(watchName(alert))
    if (!watching) return
    const { open } = this.#places[this.windowMinutes.indexOf(watching.watch.rule.window_minutes)]!
    open.getOrInsertComputed(alert.key, () => new Map()).set(watching.name, watching)
    watching.findings.wasOpen.add(alertName(alert))
  }

  /**
   * Compares one group with the rules of its window.
   *
   * @param at index of the window in {@link windowMinutes}
   */
  take(key: string, at: number, group: WindowGroup, atMs: number): void {
    const { windowMinutes, metrics, open } = this.#places[at]!
    const openOfKey = open.get(key)
    const { invocations } = group
    for (const { watch, findings } of openOfKey?.values() ?? []) {
      if (watch.keys && !watch.keys.has(key)) continue
      const value = measured(watch.rule.metric, windowMinutes, group)
      findings.sights.set(alertName({ ...watch, key }), { value, invocations, atMs })
    }
    for (const { metric, watchings } of metrics) {
      const value = measured(metric, windowMinutes, group)
      for (const { watch, name, findings } of watchings) {
        const { above } = watch.rule
        if (value <= above) break
        const excess = value / above
        if (!findings.worst.wants(excess) || (watch.keys && !watch.keys.has(key))) continue
        if (!shouldOpen(watch.rule, { value, invocations }) || openOfKey?.has(name)) continue
        findings.worst.add({ watch, key, value, invocations, atMs, excess })
      }
    }
  }

  #of(webhookId: string): EndpointFindings {
    return this.endpoints.getOrInsertComputed(webhookId, () => ({
      sights: new Map(),
      wasOpen: new Set(),
      worst: new TopCandidates(webhookOpenAlertsMax),
    }))
  }
}

/** Keeps the worst candidates, by the ratio to their threshold; of equals, the first. */
export class TopCandidates {
  readonly #countMax: number
  /**
   * Maximum number held before a sort drops the excess. It differs between instances, so that not all sort at the same
   * time.
   */
  readonly #heldMax: number
  #kept: Candidate[] = []
  /** Candidates with this excess or less are no longer among the worst. */
  #floor = Number.NEGATIVE_INFINITY

  constructor(countMax: number) {
    this.#countMax = countMax
    this.#heldMax = countMax * (2 + Math.random())
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0
  }

  /** Returns whether a candidate would be kept. */
  wants(excess: number): boolean {
    return excess > this.#floor
  }

  add(candidate: Candidate): void {
    this.#kept.push(candidate)
    if (this.#kept.length < this.#heldMax) return
    this.#kept = this.inOrder()
    this.#floor = this.#kept.at(-1)!.excess
  }

  /** Returns the candidates, the worst first. */
  inOrder(): Candidate[] {
    return this.#kept.toSorted((a, b) => (a.excess === b.excess ? 0 : b.excess - a.excess)).slice(0, this.#countMax)
  }
}
