import type { NotificationData } from '@mantine/notifications'
import { HubProblem } from '../api/problem.ts'

/** Dispatches an event for the first notification: the notification area loads with it. */
export const firstToast = new EventTarget()

function show(notification: NotificationData): void {
  firstToast.dispatchEvent(new Event('asked'))
  void import('@mantine/notifications').then(({ notifications }) =>
    notifications.show({ withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' }, ...notification }),
  )
}

/** Shows for a few seconds that an action succeeded. */
export function toastDone(message: string): void {
  show({ message, color: 'seal' })
}

/** Shows that a minor action failed. Use ProblemNotice for more detail if the page has space for it. */
export function toastProblem(error: unknown, title: string): void {
  const message = error instanceof Error ? error.message : 'Cannot reach the Hub.'
  const request = error instanceof HubProblem && error.requestId ? ` Request ${error.requestId}.` : ''
  show({ title, message: `${message}${request}`, color: 'red', autoClose: 12_000 })
}

/** Shows an event that the user did not cause. */
export function toastOf(title: string, message: string): void {
  show({ title, message, color: 'blue', autoClose: 12_000 })
}
