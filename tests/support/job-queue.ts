import type { Modules } from '../../server/create-modules.ts'
import type { DatabaseLog } from '../../server/db/database.ts'
import { JobQueue } from '../../server/jobs/queue.ts'
import type { TestDatabase } from './database.ts'

/** Works on the jobs that modules send, from the first one on: most tests send none. */
export function connectJobQueue(modules: Modules, test: TestDatabase, log: DatabaseLog): { stop(): Promise<void> } {
  let queue: JobQueue | undefined
  function started(): JobQueue {
    if (queue) return queue
    queue = new JobQueue(test.targets.app, { role: 'all', drainSeconds: 5 }, log)
    const { telemetry, auth, exports, roster, budgets } = modules
    for (const job of [...telemetry.jobs, ...auth.jobs, ...exports.jobs, ...roster.sync.jobs, ...budgets.jobs])
      queue.registerJob(job)
    queue.start()
    return queue
  }
  modules.jobSender.connect({ send: (...job) => started().send(...job) })
  const stop = async () => {
    modules.exports.stop()
    modules.roster.sync.stop()
    await queue?.stop()
  }
  return { stop }
}
