import type { DemoApi } from '../demo-api.ts'
import type { DemoEvent } from '../events.ts'
import type { DemoPeriod } from '../period.ts'
import type { StepProgress } from './progress.ts'

const batchSize = 1000
const batchesInFlight = 2

interface BatchResponse {
  accepted: number
  failed: number
  errors?: { index: number; detail: string }[]
}

/** Sends events in batches. A batch that is repeated within a day is stored once. */
export async function sendEvents(
  api: DemoApi,
  events: readonly DemoEvent[],
  { endMs }: DemoPeriod,
  progress: StepProgress,
): Promise<void> {
  const batches: DemoEvent[][] = []
  for (let start = 0; start < events.length; start += batchSize) batches.push(events.slice(start, start + batchSize))
  const worker = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const [first, last] = [batch[0]!.metadata.demo_row, batch.at(-1)!.metadata.demo_row]
      const response = await api.post<BatchResponse>('/api/v1/telemetry/events:batch', {
        body: { events: batch },
        idempotencyKey: `demo-${endMs}-${first}-${last}`,
      })
      if (response.failed > 0) {
        throw new Error(`The Hub refused ${response.failed} events: ${response.errors?.[0]?.detail}`)
      }
      progress.advance(batch.length / eventsPerUnit)
    }
  }
  await Promise.all(Array.from({ length: batchesInFlight }, worker))
}

/** Number of events that take about as long as one other call. */
export const eventsPerUnit = 25
