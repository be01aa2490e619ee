/**
 * Costs of ingest with one core of AMD EPYC, PostgreSQL 18 and an Idempotency-Key on each request. `npm run bench:batch`
 * and `bench:single` measured the CPU time, with two million events stored; `bench:bytes` disk and WAL of 510,000 events
 * after VACUUM. `tests/cli/capacity.test.ts` compares the CPU time with `bench/results/`.
 */
export const measuredCosts = {
  /** Microseconds of CPU time for an event in a batch of 1,000, and for a request with one event. */
  batched: { hub: 28.5, database: 35.6 },
  single: { hub: 80.1, database: 47.6 },
  /** Bytes for each event: the record, its indexes, its share of a seal, and rollups. */
  diskBytes: 1100,
  /** Bytes for each event, with compressed full-page images after a checkpoint. */
  walBytes: 1600,
} as const

/** Events of the batches that `batched` was measured with. */
const batchSize = 1000

/**
 * Returns the microseconds of CPU time for an event. A request costs a fixed amount, which its events share.
 *
 * @param part the Hub's processes, or PostgreSQL
 * @param eventsPerRequest 1 to 1,000
 */
export function cpuMicrosOf(part: 'hub' | 'database', eventsPerRequest: number): number {
  const { batched, single } = measuredCosts
  const request = (single[part] - batched[part]) / (1 - 1 / batchSize)
  return single[part] - request + request / eventsPerRequest
}
