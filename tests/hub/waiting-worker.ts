import { once } from 'node:events'
import { BroadcastChannel } from 'node:worker_threads'
import { checkRecords } from '../../server/modules/hub/verification/batch-verifier.ts'
import type { VerificationTask } from '../../server/modules/hub/verification/verification-task.ts'

/** Says that it has begun, and checks the records once the test says so. */
export default async function check(task: VerificationTask): Promise<Uint8Array> {
  const channel = new BroadcastChannel('waiting-worker')
  const answered = once(channel, 'message')
  channel.postMessage({ begun: task.records.recordId.length })
  await answered
  channel.close()
  return checkRecords(task)
}
