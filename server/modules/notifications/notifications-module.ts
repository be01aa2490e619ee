import type { FastifyInstance } from 'fastify'
import { addNotificationRoutes } from './notifications-routes.ts'
import { createNotifications, type NotificationsDeps } from './notifications-service.ts'

/** Creates the module of notifications: recent governance events that need attention, and read positions. */
export function createNotificationsModule(deps: NotificationsDeps) {
  const notifications = createNotifications(deps)
  return { routes: (app: FastifyInstance) => addNotificationRoutes(app, notifications) }
}
