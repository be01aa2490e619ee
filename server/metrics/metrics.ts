import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import {
  addDatabaseWaits,
  addDiskSpace,
  addExports,
  addWebhookWaits,
  type DatabaseWaits,
  type DiskFigures,
  type ExportFigures,
} from './state-metrics.ts'
import { addWork, EventCounters, type WorkSources } from './work-metrics.ts'

/** Bucket limits in seconds, from a cached read to an export or a full batch on a busy disk. */
const durationBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The metrics of a process, in transit to the process that shows them. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/**
 * Counts the work of a process under the names that Prometheus reads. Labels are operations, classes and outcomes,
 * which are few: never a tenant, a caller or an address. Counting a request takes 0.4 µs.
 */
export class Metrics {
  private readonly registry = new Registry()
  private readonly requests: Counter<'operation' | 'status'>
  private readonly durations: Histogram<'operation'>
  private readonly tokens: Counter<'operation'>
  private readonly decisions: Counter<'class' | 'outcome'>
  private readonly fallback: Gauge
  private readonly deliveries: Counter<'outcome'>
  private readonly connectionsRefused: Counter
  readonly events: EventCounters

  /** @param worker identifies the process in a cluster: `primary` or a worker's number */
  constructor(worker?: string) {
    const registers = [this.registry]
    if (worker !== undefined) this.registry.setDefaultLabels({ worker })
    this.requests = new Counter({
      name: 'hub_http_requests_total',
      help: 'HTTP responses, by operation of the API (none: unknown address) and status.',
      labelNames: ['operation', 'status'],
      registers,
    })
    this.durations = new Histogram({
      name: 'hub_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last byte of its response.',
      labelNames: ['operation'],
      buckets: durationBuckets,
      registers,
    })
    this.tokens = new Counter({
      name: 'hub_token_issued_total',
      help: 'Access tokens issued, by the operation that issued them.',
      labelNames: ['operation'],
      registers,
    })
    this.decisions = new Counter({
      name: 'hub_rate_limit_decisions_total',
      help: 'Decisions of the rate limiter, by class of operations and outcome (allowed, refused).',
      labelNames: ['class', 'outcome'],
      registers,
    })
    this.fallback = new Gauge({
      name: 'hub_rate_limiter_fallback',
      help:
        '1 while this process counts rate limits alone, within its share, because the shared counter is ' +
        'unavailable; else 0.',
      registers,
    })
    this.deliveries = new Counter({
      name: 'hub_webhook_deliveries_total',
      help: 'Attempted webhook deliveries, by result: delivered, failed (retried), dead.',
      labelNames: ['outcome'],
      registers,
    })
    this.connectionsRefused = new Counter({
      name: 'hub_http_connections_refused_total',
      help: 'Connections refused because their address had too many open.',
      registers,
    })
    this.events = new EventCounters(this.registry)
    collectDefaultMetrics({ register: this.registry })
  }

  /** @param operation operationId, or `none` */
  requestAnswered(operation: string, status: number, seconds: number): void {
    this.requests.inc({ operation, status })
    this.durations.observe({ operation }, seconds)
  }

  tokenIssued(operation: string): void {
    this.tokens.inc({ operation })
  }

  rateLimitDecided(rateClass: string, outcome: 'allowed' | 'refused'): void {
    this.decisions.inc({ class: rateClass, outcome })
  }

  setLimiterFallback(isAlone: boolean): void {
    this.fallback.set(isAlone ? 1 : 0)
  }

  connectionRefused(): void {
    this.connectionsRefused.inc()
  }

  deliveriesAttempted(outcome: 'delivered' | 'failed' | 'dead', count: number): void {
    this.deliveries.inc({ outcome }, count)
  }

  /** Each `show` method adds metrics once; `read` is called for each page. */
  showWebhookWaits(read: () => Record<'queued' | 'due', number>): void {
    addWebhookWaits(this.registry, read)
  }

  showDatabaseWaits(read: () => DatabaseWaits): void {
    addDatabaseWaits(this.registry, read)
  }

  showDisk(read: () => Promise<DiskFigures>): void {
    addDiskSpace(this.registry, read)
  }

  showExports(read: () => Promise<ExportFigures>): void {
    addExports(this.registry, read)
  }

  showWork(sources: WorkSources): void {
    addWork(this.registry, sources)
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.registry.getMetricsAsJSON()
  }

  /**
   * Returns the page in Prometheus' text format, for this process and its workers.
   * Series of different processes carry different labels, so that a worker's end never makes a sum decrease.
   */
  async page(workers: readonly MetricsSnapshot[] = []): Promise<string> {
    if (workers.length === 0) return this.registry.metrics()
    const all = [await this.snapshot(), ...workers]
    for (const metric of all.flat()) {
      // Keeps every series unchanged; by default some would be averaged or left out.
      metric.aggregator = 'first'
      // A value that is not a number is null after its way between processes.
      metric.values = metric.values.filter(({ value }) => Number.isFinite(value))
    }
    return AggregatorRegistry.aggregate(all).metrics()
  }
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE
