import type { Static } from 'typebox'
import { validationFailed } from '../../../contract/domain-error.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import { findRecord } from '../../records/record-store.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import { releaseDetails, releasedKind } from './hold-events.ts'
import type { ReleaseBody, ReleaseList, ReleaseSchema } from './holds-schemas.ts'
import type { Release } from './holds-types.ts'
import { insertRelease, releasesAfter } from './releases-store.ts'

type ReleaseResponse = Static<typeof ReleaseSchema>

/** Creates and lists releases that permit purging governance events. Record ids are in lower case, as stored. */
export type EventReleases = ReturnType<typeof createEventReleases>

export function createEventReleases(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'governance' | 'cursorKey'> & { retention: RetentionPolicy },
) {
  const { database, clock, governance, retention, cursorKey } = deps

  /**
   * Throws unless the record is a governance event. The error reveals existence and type only to callers whose scopes
   * permit it.
   */
  async function requireEvent(tx: TenantTx, { scopes }: Caller, recordId: string, now: string): Promise<void> {
    const record = await findRecord(tx, recordId, now)
    if (record === undefined) throw recordNotFound(recordId)
    const { record_type: type } = record
    if (type === 'governance_event') return
    const isSeen = canSee(scopes, type)
    if (!isSeen && !scopes.has('hub:purge')) throw recordNotFound(recordId)
    const detail = `is ${isSeen ? `a ${type}` : 'of another type'}; only a governance_event can have a release`
    throw validationFailed([{ pointer: '/path/record_id', detail }])
  }

  return {
    /**
     * Creates a release.
     *
     * @throws DomainError `validation-failed` for a record of another type, and for an end in the past; `not-found` for
     *   a record of another type that the caller can neither see nor purge
     */
    create(
      caller: Caller,
      recordId: string,
      { reason, expires_at }: Static<typeof ReleaseBody>,
    ): Promise<ReleaseResponse> {
      const { tenant } = caller
      const { recordId: releaseId, createdAt: now } = clock.next()
      const expiresAt = expires_at === undefined ? null : requireFuture(expires_at, now)
      return database.withTenant(tenant.slug, async (tx) => {
        await requireEvent(tx, caller, recordId, now)
        const release: Release = {
          release_id: releaseId,
          record_id: recordId,
          reason,
          created_at: now,
          created_by: caller.subject,
          expires_at: expiresAt,
          event_id: null,
        }
        const event = await governance.append(tx, tenant, {
          kind: releasedKind,
          subject: `record:${recordId}`,
          details: { ...releaseDetails(release), ...((await retention.inForce(tx)).four_eyes && { four_eyes: true }) },
          actor: caller,
        })
        await insertRelease(tx, { ...release, event_id: event.recordId })
        return toResponse(release)
      })
    },

    /** Lists all releases of the record, oldest first, including ended ones. */
    async list(caller: Caller, recordId: string, asked: PageRequest): Promise<Static<typeof ReleaseList>> {
      const { slug } = caller.tenant
      const binding = { tenant: slug, operation: 'listReleases', query: { record_id: recordId } }
      const page = openPage<string>(cursorKey, binding, asked)
      const rows = await readTenant(
        database,
        slug,
        async (tx) => {
          await requireEvent(tx, caller, recordId, clock.next().createdAt)
          return releasesAfter(tx, recordId, page.after, page.count)
        },
        { inIndexOrder: true },
      )
      const { shown, next_cursor } = page.of(rows, (last) => last.release_id)
      return { items: shown.map((row) => ({ ...toResponse(row), created_by: row.created_by })), next_cursor }
    },
  }
}

function toResponse({ release_id, record_id, reason, created_at, expires_at }: Release): ReleaseResponse {
  return { release_id, record_id, reason, created_at, ...(expires_at === null ? {} : { expires_at }) }
}

function requireFuture(expiresAt: string, now: string): string {
  const parsed = parseTimestamp(expiresAt)
  if (parsed === undefined) {
    throw validationFailed([{ pointer: '/expires_at', detail: 'must be an RFC 3339 timestamp' }])
  }
  if (parsed.text <= now) throw validationFailed([{ pointer: '/expires_at', detail: 'must be in the future' }])
  return parsed.text
}
