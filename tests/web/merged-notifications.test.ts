import { expect, test } from 'vitest'
import { mergedNotifications, unreadCount } from '../../web/app/merged-notifications.ts'

const rule = { metric: 'error_rate', group_by: 'skill', key: 'a', threshold: 0.2, window_minutes: 60, value: 0.3 }
const alert = (subject: string, second: number, details: object = {}) => ({
  ...{ record_id: `${subject} ${second}`, event_kind: 'alert.opened', subject, read: false },
  ...{ details: { alert_id: subject, ...rule, ...details }, created_at: new Date(second * 1000).toISOString() },
})

test('an alert that several endpoints opened is one notification, and counts once', () => {
  const items = [alert('webhook:2', 1000), alert('webhook:1', 1000)]
  expect(mergedNotifications(items)).toEqual([items[0]])
  expect(unreadCount({ items, unread_count: 5 })).toBe(4)
})

test.each([
  ['of another skill', alert('webhook:1', 1000, { key: 'b' })],
  ['of an earlier time', alert('webhook:1', 900)],
  ['of the same endpoint, about another person', alert('webhook:2', 1000)],
  ['of another kind', { ...alert('webhook:1', 1000), event_kind: 'webhook.disabled' }],
])('a notification %s stays', (_, other) => {
  const items = [alert('webhook:2', 1000), other]
  expect(mergedNotifications(items)).toEqual(items)
})
