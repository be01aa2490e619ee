import type { Outbound } from '../../../outbound/outbound.ts'
import { type CheckpointSink, LogRollbackError, type StoredCheckpoint } from './checkpoint-types.ts'

/**
 * Creates a sink that sends each checkpoint as JSON to a web address of the operator. Any 2xx response confirms the
 * storage. A webhook cannot be read back, so a checkpoint is compared with the previous one that this process has sent.
 *
 * @param outbound a client that permits the address, which belongs to the operator and not to a tenant
 */
export function openCheckpointWebhook(url: string, outbound: Pick<Outbound, 'fetch'>): CheckpointSink {
  const sent = new Map<string, StoredCheckpoint>()
  return {
    // The path may be a secret.
    place: new URL(url).origin,
    async keep(checkpoint, continues) {
      const before = sent.get(checkpoint.log_name)
      if (before && checkpoint.tree_size <= before.tree_size) {
        if (!(await continues(checkpoint, before))) throw new LogRollbackError('another state was sent before', before)
      } else if (before && !(await continues(before, checkpoint))) {
        throw new LogRollbackError('it does not continue the state that was sent before', before)
      }
      const answer = await outbound.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(checkpoint),
      })
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
      sent.set(checkpoint.log_name, checkpoint)
    },
    newest: async () => undefined,
    some: async () => [],
  }
}
