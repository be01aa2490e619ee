import type { IngestStep } from '../../../db/ingest-script.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { SealedBatch } from '../../sealing/sealing-types.ts'
import type { InvocationWatch, InvocationWatches, WebhookOutbox } from '../../webhooks/webhooks-types.ts'
import type { RatedEvent } from './event-writer.ts'

/** The wanted messages about invocations, and the outbox for them. */
export interface InvocationOutbox {
  watches: Pick<InvocationWatches, 'of'>
  outbox: Pick<WebhookOutbox, 'step' | 'queued'>
}

/** Limits a row, so that it is relayed at once, and written without delaying others. */
const messagesPerStep = 250

/**
 * Returns the messages about the events, in the order of the batch's records, as steps of the transaction that stores
 * them. Yields to the event loop.
 *
 * @param sealed whether the records are stored under a key of their tenant
 */
export async function messageSteps(
  outbox: Pick<WebhookOutbox, 'step'>,
  watch: InvocationWatch,
  { tenantId, records }: SealedBatch,
  events: readonly RatedEvent[],
  sealed: boolean,
): Promise<IngestStep[]> {
  const yieldIfLong = createEventLoopYielder()
  const steps: IngestStep[] = []
  for (let from = 0; from < events.length; from += messagesPerStep) {
    const some = events.slice(from, from + messagesPerStep)
    const messages = watch.messagesOf(
      some.map(({ draft, counted: { skillId, archetypeId, userId } }, index) => ({
        ...{ recordId: records[from + index]!.recordId, createdAt: records[from + index]!.createdAt },
        fields: draft.fields,
        ...{ skillId, archetypeId, userId, sealed },
      })),
    )
    for (let at = 0; at < messages.length; at += messagesPerStep) {
      steps.push(outbox.step(tenantId, messages.slice(at, at + messagesPerStep)))
      await yieldIfLong()
    }
  }
  return steps
}
