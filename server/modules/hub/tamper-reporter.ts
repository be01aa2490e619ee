import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { claimTamperReport } from './record-state-store.ts'

interface TamperFinding {
  recordId: string
  /** Names of the checks that failed. */
  failedChecks: readonly string[]
}

export interface TamperReporter {
  /** Starts reporting and returns at once: the read that found it does not wait. */
  report(tenant: Tenant, findings: readonly TamperFinding[]): void
  /** Resolves when every report that was started has ended. */
  settled(): Promise<void>
}

/** Spares the database the same claim at every read of a broken record. */
const rememberedMax = 10_000

/** Writes `hub.tamper_detected`, once per record and UTC day, whoever finds it and however often. */
export function createTamperReporter(deps: {
  database: Database
  governance: GovernanceLog
  log: Pick<DatabaseLog, 'error'>
  now?: () => number
}): TamperReporter {
  const { database, governance, log, now = Date.now } = deps
  const remembered = new LRUCache<string, true>({ max: rememberedMax })
  const underWay = new Set<Promise<void>>()

  async function write(tenant: Tenant, finding: TamperFinding, day: string): Promise<void> {
    const { recordId, failedChecks } = finding
    await database.withTenant(tenant.slug, async (tx) => {
      if (!(await claimTamperReport(tx, recordId, day))) return
      await governance.append(tx, tenant, {
        kind: 'hub.tamper_detected',
        subject: `record:${recordId}`,
        details: { failed_checks: [...failedChecks] },
        actor: { service: 'verification' },
      })
    })
  }

  async function writeAll(tenant: Tenant, findings: readonly TamperFinding[]): Promise<void> {
    const day = formatTimestamp(now()).slice(0, 10)
    for (const finding of findings) {
      const known = `${day} ${tenant.slug} ${finding.recordId}`
      if (remembered.has(known)) continue
      try {
        await write(tenant, finding, day)
        remembered.set(known, true)
      } catch (error) {
        log.error({ err: error, tenant: tenant.slug, record_id: finding.recordId }, 'tampering could not be reported')
      }
    }
  }

  return {
    report(tenant, findings) {
      if (findings.length === 0) return
      const work = writeAll(tenant, findings).finally(() => underWay.delete(work))
      underWay.add(work)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}
