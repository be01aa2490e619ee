import { notifications } from '@mantine/notifications'
import { HubProblem } from '../api/problem.ts'

/** Says that something was done, for a few seconds. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'seal', withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' } })
}

/** Says that something asked for in passing did not work. Where there is a place for it, ProblemNotice says more. */
export function notifyProblem(error: unknown, title: string): void {
  const message = error instanceof Error ? error.message : 'The Hub does not answer.'
  const request = error instanceof HubProblem && error.requestId ? ` Request ${error.requestId}.` : ''
  notifications.show({
    title,
    message: `${message}${request}`,
    color: 'red',
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Dismiss' },
    autoClose: 12_000,
  })
}
