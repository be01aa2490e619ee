import { once } from 'node:events'
import { BroadcastChannel } from 'node:worker_threads'
import type { VerificationTask } from '../../server/modules/verification/provenance-check.ts'
import { checkRecords } from '../../server/modules/verification/provenance-check.ts'

/** Says that it has begun, and checks the records once the test says so. */
export default async function check(task: VerificationTask): Promise<Uint8Array> {
  const channel = new BroadcastChannel('waiting-worker')
  const answered = once(channel, 'message')
  channel.postMessage({ begun: task.records.recordId.length })
  await answered
  channel.close()
  return checkRecords(task)
}
