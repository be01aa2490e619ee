import type { IngestStep } from '../../../db/ingest-script.ts'
import type { SealedBatch } from '../../hub/hub-types.ts'
import type { InvocationWatch, InvocationWatches, WebhookOutbox } from '../../webhooks/webhooks-types.ts'
import type { RatedEvent } from './event-writer.ts'

/** What other systems want to know of invocations, and where it is left for them. */
export interface InvocationNews {
  watches: Pick<InvocationWatches, 'of'>
  outbox: Pick<WebhookOutbox, 'step' | 'queued'>
}

/** So that a row is relayed at once, however many endpoints want the same events from different values on. */
const messagesPerStep = 1000

/**
 * What of the events, in the order of the batch's records, is to be told: steps of the transaction that stores them.
 * None where nothing is.
 *
 * @param sealed whether the records are stored under a key of their tenant
 */
export function newsSteps(
  outbox: Pick<WebhookOutbox, 'step'>,
  watch: InvocationWatch,
  { tenantId, records }: SealedBatch,
  events: readonly RatedEvent[],
  sealed: boolean,
): IngestStep[] {
  const messages = watch.messagesOf(
    events.map(({ draft, counted }, index) => ({
      recordId: records[index]!.recordId,
      fields: draft.fields,
      skillId: counted.skillId,
      archetypeId: counted.archetypeId,
      userId: counted.userId,
      success: counted.success,
      latencyMs: counted.latencyMs,
      costEstimateMicros: counted.costEstimateMicros,
      costComputedMicros: counted.costComputedMicros,
      sealed,
    })),
  )
  const steps: IngestStep[] = []
  for (let at = 0; at < messages.length; at += messagesPerStep) {
    steps.push(outbox.step(tenantId, messages.slice(at, at + messagesPerStep)))
  }
  return steps
}
