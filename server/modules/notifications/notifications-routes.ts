import type { FastifyInstance } from 'fastify'
import { notificationDays } from '../../../contract/limits.ts'
import { notificationKinds } from '../../../contract/notification-kinds.ts'
import { addRoute } from '../../http/route.ts'
import { NotificationList, ReadBody } from './notifications-schemas.ts'
import type { NotificationsService } from './notifications-service.ts'

export function addNotificationRoutes(app: FastifyInstance, notifications: NotificationsService): void {
  addRoute(
    app,
    'listNotifications',
    {
      description:
        `Governance events of the last ${notificationDays} days that need attention: ` +
        `${notificationKinds.map((kind) => `\`${kind}\``).join(', ')}. Each caller has one read position.`,
      response: { 200: NotificationList },
    },
    async (request) => notifications.list(request.caller),
  )

  addRoute(
    app,
    'markNotificationsRead',
    {
      description:
        'Moves your read position to the notification, and returns the list. The position never moves back, so a ' +
        'repetition changes nothing.',
      body: ReadBody,
      response: { 200: NotificationList },
    },
    async (request) => notifications.markRead(request.caller, request.body.record_id),
  )
}
