import { DomainError, invalidTenant, validationFailed } from '../../../contract/domain-error.ts'
import { exportsOpenMax } from '../../../contract/limits.ts'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { normaliseFilter } from '../../../contract/record-filter.ts'
import { canSee, readScopeOf, visibleTypes } from '../../../contract/record-visibility.ts'
import type { Scope } from '../../../contract/scopes.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import { openCursor, pageOf, signCursor } from '../../http/cursor.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { GovernanceLog, RefusalLog } from '../governance/governance-types.ts'
import type { TenantLogs } from '../log/log-types.ts'
import type { DownloadUrls } from './download-url.ts'
import type { ExportFileStore } from './export-file-store.ts'
import type { ExportQuotas } from './export-quota.ts'
import { isDownloadable, orderOf, timeAt, toExportResponse } from './export-response.ts'
import {
  countOpen,
  type ExportPosition,
  type ExportRow,
  exportsBefore,
  findExport,
  insertExport,
  lockOrders,
  markCancelled,
} from './exports-store.ts'
import type { ExportOrder, Exports, ExportWriter, NewExport } from './exports-types.ts'

/** A first estimate, before the export knows its rate: rows per second, for seals of some rows each. */
const sealsPerSecond = 2500
const secondsMin = 3

export function createExports(deps: {
  database: Database
  cursorKey: Buffer
  clock: RecordClock
  logs: Pick<TenantLogs, 'head'>
  governance: GovernanceLog
  refusals: Pick<RefusalLog, 'note'>
  urls: DownloadUrls
  writer: Pick<ExportWriter, 'fileNames'>
  files: ExportFileStore
  disk: Pick<DiskSpace, 'requireRoom'>
  quotas: Pick<ExportQuotas, 'requireRoom'>
  /** Queues the export if the transaction commits. */
  begin(tx: TenantTx, jobId: string): Promise<void>
  /** Stops an attempt in this process. */
  stopAttempt(jobId: string): void
}): Exports {
  const { database, clock, governance } = deps

  function answer({ tenant }: Caller, row: ExportRow) {
    const names = deps.writer.fileNames(orderOf(row))
    return toExportResponse(tenant, row, { now: clock.next().createdAt, names, urls: deps.urls })
  }

  async function visible(tx: TenantTx, caller: Caller, jobId: string): Promise<ExportRow> {
    const row = await findExport(tx, jobId)
    if (!row?.record_types.every((type) => canSee(caller.scopes, type))) {
      throw new DomainError('not-found', 'The tenant has no export with this id that the caller may see.')
    }
    return row
  }

  function refuse(caller: Caller, reason: 'scope' | 'wrong_tenant', asked: Record<string, JsonValue>): void {
    deps.refusals.note(caller.tenant, {
      kind: 'auth.access_refused',
      subject: `${caller.sessionId === undefined ? 'service_account' : 'user'}:${caller.subject}`,
      reason,
      address: caller.address,
      requestId: caller.requestId,
      details: { operation_id: 'createExport', ...asked },
    })
  }

  /**
   * Returns the types that the export covers: the requested ones, or all visible ones. Throws if a requested type is
   * hidden, so that no incomplete file looks complete.
   */
  function coveredTypes(caller: Caller, asked: readonly RecordType[] | undefined): readonly RecordType[] {
    const seen = visibleTypes(caller.scopes) ?? recordTypes
    const hidden = (asked ?? recordTypes).filter((type) => !seen.includes(type))
    if (hidden.length === 0) return asked ?? recordTypes
    const required_scopes: Scope[] = asked === undefined ? ['hub:read'] : [...new Set(hidden.map(readScopeOf))]
    refuse(caller, 'scope', { required_scopes })
    const detail =
      asked === undefined
        ? 'Without filter.record_type an export covers all types, which takes the scope hub:read, and the token does not ' +
          `hold it. Name the types that it may read: {"filter": {"record_type": ${JSON.stringify(seen)}}}.`
        : `Records of the types ${hidden.join(', ')} take the scope ${required_scopes.join(' and ')}. The token does not hold it.`
    throw new DomainError('insufficient-scope', detail, { extensions: { required_scopes } })
  }

  function orderFrom(caller: Caller, body: NewExport): ExportOrder {
    const { filter = {}, format = 'jsonl', compression, verify = false, include_provenance = false } = body
    if (filter.tenant_id !== undefined && filter.tenant_id !== caller.tenant.slug) {
      refuse(caller, 'wrong_tenant', { tenant_slug: filter.tenant_id.slice(0, 63) })
      throw invalidTenant(filter.tenant_id)
    }
    const covered = coveredTypes(caller, filter.record_type)
    if (format === 'parquet' && compression !== undefined) {
      const detail = 'must not be there with parquet, which compresses its columns itself'
      throw validationFailed([{ pointer: '/compression', detail }])
    }
    return {
      jobId: `exp_${randomText(24)}`,
      format,
      compression: compression ?? null,
      filter: normaliseFilter(filter, '/filter'),
      recordTypes: covered,
      verify,
      includeProvenance: include_provenance,
      createdBy: caller.subject,
      createdAt: clock.next().createdAt,
    }
  }

  async function estimate(tx: TenantTx): Promise<string> {
    const head = await deps.logs.head(tx)
    const seconds = secondsMin + Math.min((head?.treeSize ?? 0) / sealsPerSecond, 3600)
    return timeAt(clock.next().micros + seconds * 1_000_000)
  }

  return {
    async create(caller, body) {
      const order = orderFrom(caller, body)
      await deps.disk.requireRoom()
      return database.withTenant(caller.tenant.slug, async (tx) => {
        await lockOrders(tx)
        if ((await countOpen(tx)) >= exportsOpenMax) {
          throw new DomainError(
            'rate-limited',
            `The tenant has ${exportsOpenMax} exports that wait or run. Wait until one of them has ended, or cancel one.`,
            { retryAfterSeconds: 30 },
          )
        }
        await deps.quotas.requireRoom(tx, clock.next().micros)
        const row = await insertExport(tx, order, await estimate(tx))
        await governance.append(tx, caller.tenant, {
          kind: 'hub.export_created',
          subject: `export:${order.jobId}`,
          details: orderDetails(order),
          actor: caller,
        })
        await deps.begin(tx, order.jobId)
        return answer(caller, row)
      })
    },

    async list(caller, { limit, cursor }) {
      const { slug } = caller.tenant
      const binding = { tenant: slug, operation: 'listExports', query: {} }
      const before =
        cursor === undefined ? undefined : (openCursor(deps.cursorKey, binding, cursor) as unknown as ExportPosition)
      const types = visibleTypes(caller.scopes) ?? recordTypes
      const rows = await database.withTenant(slug, (tx) => exportsBefore(tx, types, before, limit + 1), {
        readOnly: true,
        inIndexOrder: true,
      })
      const { shown, next_cursor } = pageOf(rows, limit, (last) =>
        signCursor(deps.cursorKey, binding, [last.created_at, last.job_id]),
      )
      return { items: shown.map((row) => answer(caller, row)), next_cursor }
    },

    get: (caller, jobId) =>
      database.withTenant(caller.tenant.slug, async (tx) => answer(caller, await visible(tx, caller, jobId)), {
        readOnly: true,
      }),

    cancel: (caller, jobId) =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        const row = await visible(tx, caller, jobId)
        if (row.status === 'cancelled') return answer(caller, row)
        if (!(await markCancelled(tx, jobId))) return answer(caller, await cancelledMeanwhile(tx, caller, jobId))
        await governance.append(tx, caller.tenant, {
          kind: 'hub.export_cancelled',
          subject: `export:${jobId}`,
          details: orderDetails(orderOf(row)),
          actor: caller,
        })
        tx.afterCommit(() => {
          deps.stopAttempt(jobId)
          deps.files.removeSoon(caller.tenant.slug, orderOf(row))
        })
        return answer(caller, { ...row, status: 'cancelled' })
      }),
  }

  /** Handles an export that ended before its cancellation, or at the same moment. */
  async function cancelledMeanwhile(tx: TenantTx, caller: Caller, jobId: string): Promise<ExportRow> {
    const row = await visible(tx, caller, jobId)
    if (row.status === 'cancelled') return row
    const has = row.status === 'completed' && !isDownloadable(row, clock.next().createdAt) ? 'expired' : row.status
    throw new DomainError('concurrent-modification', `The export can no longer be cancelled: it is ${has}.`)
  }
}

function orderDetails(order: ExportOrder): Record<string, JsonValue> {
  return {
    format: order.format,
    ...(order.compression !== null && { compression: order.compression }),
    filter: { ...order.filter } as Record<string, JsonValue>,
    record_types: [...order.recordTypes],
    verify: order.verify,
    include_provenance: order.includeProvenance,
  }
}
