import type { ApiResponse } from '../api/api-client.ts'

type Notification = ApiResponse<'listNotifications'>['items'][number]

/** Endpoints with the same rule open their alerts in one transaction. */
const togetherMs = 60_000

/** Returns the notifications without repetitions: an alert that several endpoints with the same rule opened is one. */
export function mergedNotifications(items: readonly Notification[]): Notification[] {
  const groups = new Map<string, { newestMs: number; endpoints: Set<string | undefined> }>()
  return items.filter((item) => {
    if (item.event_kind !== 'alert.opened') return true
    const { metric, group_by, key, threshold, window_minutes, value } = item.details as Record<string, unknown>
    const rule = JSON.stringify([metric, group_by, key, threshold, window_minutes, value])
    const atMs = Date.parse(item.created_at)
    const group = groups.get(rule)
    // Two alerts of one endpoint are about two people, whom events do not name.
    if (group && group.newestMs - atMs <= togetherMs && !group.endpoints.has(item.subject)) {
      group.endpoints.add(item.subject)
      return false
    }
    groups.set(rule, { newestMs: atMs, endpoints: new Set([item.subject]) })
    return true
  })
}

/** Returns the number of unread notifications, without the repetitions among the listed ones. */
export function unreadCount({ items, unread_count }: ApiResponse<'listNotifications'>): number {
  const unread = items.filter(({ read }) => !read)
  return unread_count - (unread.length - mergedNotifications(unread).length)
}
