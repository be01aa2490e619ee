import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { claimTamperReport, deleteTamperReports } from './record-state-store.ts'

interface TamperFinding {
  recordId: string
  /** Names of the checks that failed. */
  failedChecks: readonly string[]
}

export interface TamperReporter {
  /**
   * Starts reporting and returns at once: the read that found it does not wait. What is too much to wait in memory is
   * left out, and reported by the next read that finds it.
   */
  report(tenant: Tenant, findings: readonly TamperFinding[]): void
  /** Resolves when every report that was started has ended. */
  settled(): Promise<void>
  /** Forgets which reports were made more than two days ago; true when there may be more. The reports stay. */
  forgetOldClaims(tx: TenantTx): Promise<boolean>
}

const dayMs = 24 * 3_600_000
/** Long enough for clocks that differ and a report that was under way at midnight. */
const claimDays = 2
const forgottenAtOnce = 10_000

/** Spares the database the same claim at every read of a broken record. */
const rememberedMax = 10_000

/** Findings that wait to be written: a page has 1,000 records, and each is one transaction. */
const waitingMax = 10_000

interface Waiting {
  tenant: Tenant
  finding: TamperFinding
  day: string
}

/** Writes `hub.tamper_detected`, once per record and UTC day, whoever finds it and however often. */
export function createTamperReporter(deps: {
  database: Database
  governance: GovernanceLog
  log: Pick<DatabaseLog, 'error'>
  now?: () => number
  waitingMax?: number
}): TamperReporter {
  const { database, governance, log, now = Date.now, waitingMax: max = waitingMax } = deps
  const remembered = new LRUCache<string, true>({ max: rememberedMax })
  /** By day, tenant and record, in the order in which they came; the first is being written. */
  const waiting = new Map<string, Waiting>()
  let leftOut = 0
  let underWay: Promise<void> | undefined

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

  /** One after the other: reports must not take the connections that requests need. */
  async function writeAll(): Promise<void> {
    for (const [name, { tenant, finding, day }] of waiting) {
      try {
        await write(tenant, finding, day)
        remembered.set(name, true)
      } catch (error) {
        log.error({ err: error, tenant: tenant.slug, record_id: finding.recordId }, 'tampering could not be reported')
      }
      waiting.delete(name)
    }
    if (leftOut > 0) log.error({ findings: leftOut }, 'too much tampering to report at once; reads will find it again')
    leftOut = 0
    underWay = undefined
  }

  return {
    report(tenant, findings) {
      const day = formatTimestamp(now()).slice(0, 10)
      for (const finding of findings) {
        const name = `${day} ${tenant.slug} ${finding.recordId}`
        if (remembered.has(name) || waiting.has(name)) continue
        if (waiting.size < max) waiting.set(name, { tenant, finding, day })
        else leftOut += 1
      }
      if (waiting.size > 0) underWay ??= writeAll()
    },
    async settled() {
      while (underWay !== undefined) await underWay
    },
    async forgetOldClaims(tx) {
      const before = formatTimestamp(now() - claimDays * dayMs).slice(0, 10)
      return (await deleteTamperReports(tx, before, forgottenAtOnce)) === forgottenAtOnce
    },
  }
}
