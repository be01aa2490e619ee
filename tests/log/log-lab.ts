import { EventBus } from '../../server/event-bus.ts'
import type { ProvenanceKeys } from '../../server/modules/keys/keys-types.ts'
import type { LogHead } from '../../server/modules/log/log-types.ts'
import { createTenantLogs } from '../../server/modules/log/tenant-logs.ts'
import { openRecordLab } from '../hub/record-lab.ts'
import type { TestDatabaseOptions } from '../support/database.ts'

/** The tenants' logs on a real database, without HTTP and without anything in the background. */
export async function openLogLab(options: TestDatabaseOptions = {}) {
  const lab = await openRecordLab(options)
  const heads: LogHead[] = []
  const events = new EventBus()
  events.on('headSigned', ({ head }) => void heads.push(head))
  const openLogs = (keys: ProvenanceKeys = lab.keys) => createTenantLogs({ ...lab, keys, events })
  return {
    ...lab,
    logs: openLogs(),
    /** Another process on the same database, which may have keys of its own. */
    logsOfAnotherProcess: openLogs,
    /** Every head that was signed. */
    heads,
  }
}

export type LogLab = Awaited<ReturnType<typeof openLogLab>>
