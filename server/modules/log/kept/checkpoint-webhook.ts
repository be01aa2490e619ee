import type { Outbound } from '../../../outbound/outbound.ts'
import type { CheckpointSink } from './kept-types.ts'

/**
 * Sends each checkpoint as JSON to a web address of the operator; any 2xx answer says that it is kept there. What was
 * sent cannot be read back.
 *
 * @param outbound one that lets the address pass: it is the operator's, not a tenant's
 */
export function openCheckpointWebhook(url: string, outbound: Pick<Outbound, 'fetch'>): CheckpointSink {
  return {
    // The path may be a secret.
    place: new URL(url).origin,
    async keep(checkpoint) {
      const answer = await outbound.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(checkpoint),
      })
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    },
    newest: async () => undefined,
  }
}
