import type { NotificationData } from '@mantine/notifications'
import { HubProblem } from '../api/problem.ts'

/** Dispatches an event for the first notification: the notification area loads with it. */
export const firstNotification = new EventTarget()

function show(notification: NotificationData): void {
  firstNotification.dispatchEvent(new Event('asked'))
  void import('@mantine/notifications').then(({ notifications }) =>
    notifications.show({ withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' }, ...notification }),
  )
}

/** Shows for a few seconds that an action succeeded. */
export function notifyDone(message: string): void {
  show({ message, color: 'seal' })
}

/** Shows that a minor action failed. Use ProblemNotice for more detail if the page has space for it. */
export function notifyProblem(error: unknown, title: string): void {
  const message = error instanceof Error ? error.message : 'Cannot reach the Hub.'
  const request = error instanceof HubProblem && error.requestId ? ` Request ${error.requestId}.` : ''
  show({ title, message: `${message}${request}`, color: 'red', autoClose: 12_000 })
}

/** Shows an event that the user did not cause. */
export function notifyOf(title: string, message: string): void {
  show({ title, message, color: 'blue', autoClose: 12_000 })
}
