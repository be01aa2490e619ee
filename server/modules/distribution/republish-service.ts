import { DomainError } from '../../../contract/domain-error.ts'
import { formatTimestamp, parseTimestamp } from '../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { randomText } from '../../secrets/random-text.ts'
import { lockConnectors, makeAllDue, targets } from './deliveries-store.ts'
import type { RepublishResponse, RepublishResult } from './distribution-types.ts'
import {
  addRepublish,
  changeRepublish,
  latestRepublish,
  lockOpenRepublish,
  type RepublishRow,
  republishById,
} from './republish-store.ts'

/**
 * Minutes after which an unfinished republication is abandoned by the next request, for the case that no process
 * publishes.
 */
const runMinutesMax = 10

/** Publishes the skills of tenants to all of their connectors on request. */
export class Republishing {
  readonly #deps: RepublishingDeps

  constructor(deps: RepublishingDeps) {
    this.#deps = deps
  }

  /** Publishes to every connector now. Returns the running republication if there is one. */
  async order(caller: Caller): Promise<RepublishResponse> {
    const row = await this.#deps.database.withTenant(caller.tenant.slug, async (tx) => {
      await lockConnectors(tx)
      const open = await lockOpenRepublish(tx)
      if (open && !isStuck(open)) return open
      if (open) await changeRepublish(tx, givenUp(open))
      return this.#make(tx, caller)
    })
    this.#deps.ordered(caller.tenant.slug)
    return toResponse(row)
  }

  /** Returns the latest republication. Throws `not-found` before the first. */
  async latest(tenant: Tenant): Promise<RepublishResponse> {
    const row = await readTenant(this.#deps.database, tenant.slug, latestRepublish)
    const how = 'POST /api/v1/skill-entitlement/distribution:republish starts one.'
    if (!row) throw new DomainError('not-found', `The skills were never republished. ${how}`)
    return toResponse(row)
  }

  /** Returns a republication. Throws `not-found`. */
  async get(tenant: Tenant, jobId: string): Promise<RepublishResponse> {
    const read = (tx: TenantTx) => republishById(tx, jobId)
    const row = await readTenant(this.#deps.database, tenant.slug, read)
    if (!row) throw new DomainError('not-found', 'The tenant has no republication with this id.')
    return toResponse(row)
  }

  async #make(tx: TenantTx, caller: Caller): Promise<RepublishRow> {
    const now = formatTimestamp(Date.now())
    const connectors = await targets(tx)
    const pulling = connectors.filter(({ delivery }) => delivery === 'pull')
    const row: RepublishRow = {
      job_id: `rep_${randomText(24)}`,
      status: 'queued',
      created_at: now,
      created_by: caller.subject,
      started_at: null,
      finished_at: null,
      done: 0,
      total: connectors.length - pulling.length,
      results: pulling.map(({ connector_id }) => ({ connector_id, status: 'pulls' })),
      error: null,
    }
    const begun = row.total === 0 ? { ...ended(row, now), started_at: now } : row
    await addRepublish(tx, begun)
    await makeAllDue(tx, { insist: true })
    await this.#deps.governance.append(tx, caller.tenant, {
      kind: 'skill.entitlement_changed',
      subject: `republish:${row.job_id}`,
      details: { change: 'republished', job_id: row.job_id, connectors: connectors.length },
      actor: caller,
    })
    return begun
  }
}

interface RepublishingDeps extends Pick<ModuleParts, 'database' | 'governance'> {
  /** Called after the commit. */
  ordered: (tenantId: string) => void
}

function isStuck(row: RepublishRow): boolean {
  const createdMs = parseTimestamp(row.created_at)?.epochMs ?? 0
  return Date.now() - createdMs > runMinutesMax * 60_000
}

function givenUp(row: RepublishRow) {
  const detail = `It was still running after ${runMinutesMax} minutes, when the next one was requested.`
  return { ...row, status: 'failed' as const, finished_at: formatTimestamp(Date.now()), error: { detail } }
}

function toResponse(row: RepublishRow): RepublishResponse {
  return {
    job_id: row.job_id,
    status: row.status,
    created_at: row.created_at,
    created_by: row.created_by,
    ...(row.started_at !== null && { started_at: row.started_at }),
    ...(row.finished_at !== null && { finished_at: row.finished_at }),
    progress: { done: row.done, total: row.total },
    results: row.results,
    ...(row.error && { error: row.error }),
  }
}

/** Records a connector's result in the running republication, if there is one. Only its first result counts. */
export async function reached(tx: TenantTx, result: RepublishResult): Promise<void> {
  const row = await lockOpenRepublish(tx)
  if (!row || row.done >= row.total) return
  if (row.results.some((known) => known.connector_id === result.connector_id)) return
  await changeRepublish(tx, withResult(row, result))
}

function withResult(row: RepublishRow, result: RepublishResult) {
  const now = formatTimestamp(Date.now())
  const results = [...row.results, result]
  const done = row.done + 1
  const begun = { ...row, done, results, started_at: row.started_at ?? now }
  return done < row.total ? { ...begun, status: 'running' as const } : ended(begun, now)
}

/** Returns the ended republication. It failed if no connector was reached. */
export function ended<Row extends Pick<RepublishRow, 'results'>>(row: Row, now: string) {
  const failed = row.results.filter(({ status }) => status === 'failed').length
  const isFailed = failed > 0 && !row.results.some(({ status }) => status === 'published')
  const detail = isFailed
    ? 'No connector accepted the skills; `results` states why. Fix them and republish.'
    : `${failed} of the connectors did not accept the skills; \`results\` states why. The Hub retries them.`
  return {
    ...row,
    status: isFailed ? ('failed' as const) : ('completed' as const),
    finished_at: now,
    error: failed > 0 ? { detail } : null,
  }
}
