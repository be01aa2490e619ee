import { type Operation, scope } from './operation.ts'

/** Notifications are governance events, so their readers may read them. */
const reader = scope('hub:read', 'governance:read')

/** Governance events that somebody should look at, with the read position of each caller. */
export const notificationOperations = {
  listNotifications: {
    method: 'GET',
    path: '/api/v1/notifications',
    access: reader,
    rateClass: 'hub-read',
    tag: 'Notifications',
    summary: 'List recent notifications and the number of unread ones',
  },
  markNotificationsRead: {
    method: 'POST',
    path: '/api/v1/notifications:read',
    access: reader,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Notifications',
    summary: 'Mark a notification and all earlier ones as read',
  },
} as const satisfies Record<string, Operation>
