import type { Static } from 'typebox'
import { validationFailed } from '../../../contract/domain-error.ts'
import { notificationDays, notificationsPerKind } from '../../../contract/limits.ts'
import { notificationKinds } from '../../../contract/notification-kinds.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { newestEvents } from '../../records/newest-events-store.ts'
import { recordIdFloor } from '../../records/record-clock.ts'
import type { ReadableRecords } from '../records/records-types.ts'
import type { NotificationList } from './notifications-schemas.ts'
import { moveReadPosition, readPosition } from './notifications-store.ts'

const dayMs = 86_400_000

type Notifications = Static<typeof NotificationList>

export interface NotificationsDeps extends Pick<ModuleParts, 'database'> {
  readable: ReadableRecords
  /** Returns milliseconds since 1970; tests advance it. */
  wallMs: () => number
}

export type NotificationsService = ReturnType<typeof createNotifications>

/** Lists the recent governance events that need attention, and keeps one read position for each caller. */
export function createNotifications({ database, readable, wallMs }: NotificationsDeps) {
  async function answer(tx: TenantTx, { subject: reader }: Caller): Promise<Notifications> {
    const fromId = recordIdFloor(wallMs() - notificationDays * dayMs, 0)
    const ids = await newestEvents(tx, { kinds: notificationKinds, fromId, perKind: notificationsPerKind })
    const position = (await readPosition(tx, reader)) ?? ''
    const records = await readable(tx, ids)
    const items = ids.flatMap((id) => {
      const members = records.get(id)?.members
      return members ? [notificationOf(id, members, id <= position)] : []
    })
    return { items, unread_count: items.filter(({ read }) => !read).length }
  }

  return {
    /** Returns the newest notifications of each kind. Purged events are left out. */
    list: (caller: Caller): Promise<Notifications> =>
      readTenant(database, caller.tenant.slug, (tx) => answer(tx, caller), { snapshot: true }),

    /**
     * Marks a notification and all earlier ones as read. Marking an earlier one again changes nothing.
     *
     * @throws DomainError `validation-failed` if the id names none of the caller's notifications
     */
    markRead: (caller: Caller, recordId: string): Promise<Notifications> =>
      database.withTenant(caller.tenant.slug, async (tx) => {
        const readThrough = recordId.toLowerCase()
        const { items } = await answer(tx, caller)
        if (!items.some(({ record_id }) => record_id === readThrough)) {
          const detail = 'names no notification; GET /api/v1/notifications lists them'
          throw validationFailed([{ pointer: '/record_id', detail }])
        }
        await moveReadPosition(tx, { reader: caller.subject, readThrough, at: formatTimestamp(wallMs()) })
        return answer(tx, caller)
      }),
  }
}

function notificationOf(record_id: string, members: object, read: boolean): Notifications['items'][number] {
  const { event_kind, subject, details, created_at } = members as Notifications['items'][number]
  return { record_id, event_kind, ...(subject !== undefined && { subject }), details, created_at, read }
}
