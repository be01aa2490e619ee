import type { Static } from 'typebox'
import { DomainError, invalidTenant, validationFailed } from '../../../contract/domain-error.ts'
import { normaliseExportFilter } from '../../../contract/export-filter.ts'
import { exportsOpenMax } from '../../../contract/limits.ts'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { canSee, readScopeOf, visibleTypes } from '../../../contract/record-visibility.ts'
import type { Scope } from '../../../contract/scopes.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import { agentDetails, type Caller } from '../../http/caller.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { DenialRecorder } from '../governance/governance-types.ts'
import type { TenantLogs } from '../log/log-types.ts'
import type { SearchMatches } from '../search/search-types.ts'
import type { DownloadUrls } from './download-url.ts'
import { packOrderFrom } from './evidence/pack-order.ts'
import type { ExportFileStore } from './export-file-store.ts'
import type { ExportQuotas } from './export-quota.ts'
import { isDownloadable, timeAt, toExportResponse } from './export-response.ts'
import type { ExportList } from './exports-schemas.ts'
import {
  countOpen,
  type ExportPosition,
  type ExportRow,
  exportsBefore,
  findExport,
  insertExport,
  lockOrders,
  markCancelled,
  orderOf,
} from './exports-store.ts'
import type { ExportRequest, ExportResponse, ExportWriter, NewEvidencePack, NewExport } from './exports-types.ts'

/** A first estimate, before the export knows its rate: rows per second, for seals of some rows each. */
const sealsPerSecond = 2500
const secondsMin = 3

interface ExportsDeps extends Pick<ModuleParts, 'database' | 'cursorKey' | 'clock' | 'governance'> {
  logs: Pick<TenantLogs, 'head'>
  denials: Pick<DenialRecorder, 'note'>
  search: Pick<SearchMatches, 'check'>
  urls: DownloadUrls
  writer: Pick<ExportWriter, 'fileNames'>
  files: ExportFileStore
  disk: Pick<DiskSpace, 'requireRoom'>
  quotas: Pick<ExportQuotas, 'requireRoom'>
  /** Queues the export if the transaction commits. */
  begin(tx: TenantTx, jobId: string): Promise<void>
  /** Stops an attempt in this process. */
  stopAttempt(jobId: string): void
}

/** Exports as callers see them: an export with a type that the caller may not read does not exist for it. */
export class Exports {
  readonly #deps: ExportsDeps

  constructor(deps: ExportsDeps) {
    this.#deps = deps
  }

  /**
   * Requests an export. Throws `invalid-tenant` for a filter of another tenant, `insufficient-scope` for a type that
   * the caller may not read, `rate-limited` if too many exports of the tenant are open, `validation-failed`.
   */
  create(caller: Caller, body: NewExport): Promise<ExportResponse> {
    return this.#start(caller, this.#orderFrom(caller, body))
  }

  /**
   * Requests an evidence pack, which counts as an export. Throws `validation-failed` for an invalid period, and
   * `rate-limited`.
   */
  createPack(caller: Caller, body: NewEvidencePack): Promise<ExportResponse> {
    const order = packOrderFrom(caller, body, this.#deps.clock.next().createdAt)
    return this.#start(caller, { ...order, jobId: newJobId() })
  }

  async #start(caller: Caller, order: ExportRequest): Promise<ExportResponse> {
    const { clock, database, disk, quotas, search } = this.#deps
    const { q } = order.filter
    if (q !== undefined) requireSearched(order.filter)
    await disk.requireRoom()
    return database.withTenant(caller.tenant.slug, async (tx) => {
      if (q !== undefined) await search.check(tx, q, '/filter/q')
      await lockOrders(tx)
      if ((await countOpen(tx)) >= exportsOpenMax) {
        throw new DomainError(
          'rate-limited',
          `The tenant has ${exportsOpenMax} exports that wait or run. Wait until one of them has ended, or cancel one.`,
          { retryAfterSeconds: 30 },
        )
      }
      await quotas.requireRoom(tx, clock.next().micros)
      const row = await insertExport(tx, order, await this.#estimate(tx))
      await this.#note(tx, caller, 'hub.export_created', order)
      await this.#deps.begin(tx, order.jobId)
      return this.#answer(caller, row)
    })
  }

  /** Lists exports, the newest first. */
  async list(caller: Caller, asked: PageRequest): Promise<Static<typeof ExportList>> {
    const { cursorKey, database } = this.#deps
    const { slug } = caller.tenant
    const page = openPage<ExportPosition>(cursorKey, { tenant: slug, operation: 'listExports', query: {} }, asked)
    const types = visibleTypes(caller.scopes) ?? recordTypes
    const rows = await readTenant(database, slug, (tx) => exportsBefore(tx, types, page.after, page.count), {
      inIndexOrder: true,
    })
    const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.job_id])
    return { items: shown.map((row) => this.#answer(caller, row)), next_cursor }
  }

  /** Returns an export; throws `not-found`. */
  get(caller: Caller, jobId: string): Promise<ExportResponse> {
    const read = async (tx: TenantTx) => this.#answer(caller, await visible(tx, caller, jobId))
    return readTenant(this.#deps.database, caller.tenant.slug, read)
  }

  /** Cancels an export. Throws `not-found`, and `concurrent-modification` for one that has ended otherwise. */
  cancel(caller: Caller, jobId: string): Promise<ExportResponse> {
    const { database, files } = this.#deps
    return database.withTenant(caller.tenant.slug, async (tx) => {
      const row = await visible(tx, caller, jobId)
      if (row.status === 'cancelled') return this.#answer(caller, row)
      if (!(await markCancelled(tx, jobId)))
        return this.#answer(caller, await this.#cancelledMeanwhile(tx, caller, jobId))
      await this.#note(tx, caller, 'hub.export_cancelled', orderOf(row))
      tx.afterCommit(() => {
        this.#deps.stopAttempt(jobId)
        files.removeSoon(caller.tenant.slug, orderOf(row))
      })
      return this.#answer(caller, { ...row, status: 'cancelled' })
    })
  }

  /** Handles an export that ended before its cancellation, or at the same moment. */
  async #cancelledMeanwhile(tx: TenantTx, caller: Caller, jobId: string): Promise<ExportRow> {
    const row = await visible(tx, caller, jobId)
    if (row.status === 'cancelled') return row
    const isOver = row.status === 'completed' && !isDownloadable(row, this.#deps.clock.next().createdAt)
    const status = isOver ? 'expired' : row.status
    throw new DomainError('concurrent-modification', `The export can no longer be cancelled: it is ${status}.`)
  }

  #answer({ tenant }: Caller, row: ExportRow): ExportResponse {
    const { clock, urls, writer } = this.#deps
    const names = writer.fileNames(orderOf(row))
    return toExportResponse(tenant, row, { now: clock.next().createdAt, names, urls })
  }

  async #note(
    tx: TenantTx,
    caller: Caller,
    kind: 'hub.export_created' | 'hub.export_cancelled',
    order: ExportRequest,
  ): Promise<void> {
    const details = {
      format: order.format,
      ...(order.compression !== null && { compression: order.compression }),
      filter: { ...order.filter } as Record<string, JsonValue>,
      record_types: [...order.recordTypes],
      verify: order.verify,
      include_provenance: order.includeProvenance,
      ...(order.pack && { evidence_pack: { note: order.pack.note, include_content: order.pack.includeContent } }),
    }
    const event = { kind, subject: `export:${order.jobId}`, details, actor: caller }
    await this.#deps.governance.append(tx, caller.tenant, event)
  }

  #refuse(caller: Caller, reason: 'scope' | 'wrong_tenant', asked: Record<string, JsonValue>): void {
    this.#deps.denials.note(caller.tenant, {
      kind: 'auth.access_refused',
      subject: `${caller.sessionId === undefined ? 'service_account' : 'user'}:${caller.subject}`,
      reason,
      address: caller.address,
      requestId: caller.requestId,
      details: { operation_id: 'createExport', ...asked, ...agentDetails(caller) },
    })
  }

  /**
   * Returns the types that the export covers: the requested ones, or all visible ones. Throws if a requested type is
   * hidden, so that no incomplete file looks complete.
   */
  #coveredTypes(caller: Caller, asked: readonly RecordType[] | undefined): readonly RecordType[] {
    const seen = visibleTypes(caller.scopes) ?? recordTypes
    const hidden = (asked ?? recordTypes).filter((type) => !seen.includes(type))
    if (hidden.length === 0) return asked ?? recordTypes
    const required_scopes: Scope[] = asked === undefined ? ['hub:read'] : [...new Set(hidden.map(readScopeOf))]
    this.#refuse(caller, 'scope', { required_scopes })
    const detail =
      asked === undefined
        ? 'Without filter.record_type an export covers all types, which takes the scope hub:read, and the token does not ' +
          `hold it. Name the types that it may read: {"filter": {"record_type": ${JSON.stringify(seen)}}}.`
        : `Records of the types ${hidden.join(', ')} take the scope ${required_scopes.join(' and ')}. The token does not hold it.`
    throw new DomainError('insufficient-scope', detail, { extensions: { required_scopes } })
  }

  #orderFrom(caller: Caller, body: NewExport): ExportRequest {
    const { filter = {}, format = 'jsonl', compression, verify = false, include_provenance = false } = body
    if (filter.tenant_id !== undefined && filter.tenant_id !== caller.tenant.slug) {
      this.#refuse(caller, 'wrong_tenant', { tenant_slug: filter.tenant_id.slice(0, 63) })
      throw invalidTenant(filter.tenant_id)
    }
    const covered = this.#coveredTypes(caller, filter.record_type)
    if (format === 'parquet' && compression !== undefined) {
      const detail = 'is not allowed with parquet, which compresses its columns itself'
      throw validationFailed([{ pointer: '/compression', detail }])
    }
    return {
      jobId: newJobId(),
      format,
      compression: compression ?? null,
      filter: normaliseExportFilter(filter, '/filter'),
      recordTypes: covered,
      verify,
      includeProvenance: include_provenance,
      createdBy: caller.subject,
      createdAt: this.#deps.clock.next().createdAt,
    }
  }

  async #estimate(tx: TenantTx): Promise<string> {
    const { clock, logs } = this.#deps
    const head = await logs.head(tx)
    const seconds = secondsMin + Math.min((head?.treeSize ?? 0) / sealsPerSecond, 3600)
    return timeAt(clock.next().micros + seconds * 1_000_000)
  }
}

function newJobId(): string {
  return `exp_${randomText(24)}`
}

async function visible(tx: TenantTx, caller: Caller, jobId: string): Promise<ExportRow> {
  const row = await findExport(tx, jobId)
  if (!row?.record_types.every((type) => canSee(caller.scopes, type))) {
    throw new DomainError('not-found', 'The tenant has no export with this id that the caller can read.')
  }
  return row
}

/** The members of a filter with `q`, and with `record_type`, which the search has as well. */
const searchedMembers: readonly string[] = ['q', 'skill_id', 'created_at__gte', 'created_at__lt']

/**
 * Refuses members beside `q` that the search does not have: it ranks its newest matches only, so a member that applied
 * afterwards would leave out older records without notice.
 */
function requireSearched({ record_type: _, ...filter }: ExportRequest['filter'] & { record_type?: unknown }): void {
  const others = Object.keys(filter).filter((name) => !searchedMembers.includes(name))
  if (others.length === 0) return
  const detail = 'is not a filter of the search: leave it out, or leave out q'
  throw validationFailed(others.map((name) => ({ pointer: `/filter/${name}`, detail })))
}
