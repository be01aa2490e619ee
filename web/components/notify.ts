import type { NotificationData } from '@mantine/notifications'
import { HubProblem } from '../api/problem.ts'

/** Tells the area where notifications are shown that there is one: it is loaded with the first. */
export const firstNotification = new EventTarget()

function show(notification: NotificationData): void {
  firstNotification.dispatchEvent(new Event('asked'))
  void import('@mantine/notifications').then(({ notifications }) =>
    notifications.show({ withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' }, ...notification }),
  )
}

/** Says that something was done, for a few seconds. */
export function notifyDone(message: string): void {
  show({ message, color: 'seal' })
}

/** Says that something asked for in passing did not work. Where there is a place for it, ProblemNotice says more. */
export function notifyProblem(error: unknown, title: string): void {
  const message = error instanceof Error ? error.message : 'Cannot reach the Hub.'
  const request = error instanceof HubProblem && error.requestId ? ` Request ${error.requestId}.` : ''
  show({ title, message: `${message}${request}`, color: 'red', autoClose: 12_000 })
}

/** Says what happened without the reader's doing. */
export function notifyOf(title: string, message: string): void {
  show({ title, message, color: 'blue', autoClose: 12_000 })
}
