import { Anchor, Button, Code, List, Text } from '@mantine/core'
import { type PointedError, summaryOf } from '../../contract/domain-error.ts'
import { HubProblem, HubUnreachable } from '../api/problem.ts'
import { signInAddress } from '../api/session.ts'
import { Notice } from '../ui/notice.tsx'

interface ProblemNoticeProps {
  error: unknown
  /** The failed action: "Could not load records". */
  title?: string
  onRetry?(): void
  /** The errors to list, if a form shows others at its fields. */
  errors?: readonly PointedError[]
}

/** Shows any failure: the problem, its place, and the next step. */
export function ProblemNotice({ error, title, onRetry, errors }: ProblemNoticeProps) {
  const retry = onRetry && (
    <Button size="xs" variant="default" onClick={onRetry}>
      Try again
    </Button>
  )
  if (error instanceof HubUnreachable || !(error instanceof HubProblem)) {
    const unforeseen = !(error instanceof HubUnreachable) && error instanceof Error ? ` (${error.message})` : ''
    return (
      <Notice kind="warning" title={title ?? 'Cannot reach the Hub'} actions={retry} urgent>
        {error instanceof HubUnreachable
          ? 'Check the connection, then try again. What is shown elsewhere on the page may be out of date.'
          : `Something went wrong${unforeseen}. Reloading it may help.`}
      </Notice>
    )
  }
  const rest = errors ?? error.errors
  const allAtFields = error.errors.length > 0 && rest.length === 0
  // The list below says the same, place by place.
  const isListed = rest.length > 0 && error.message === summaryOf(rest)
  return (
    <Notice
      kind={error.status === 429 || error.status >= 500 ? 'warning' : 'danger'}
      title={title ?? error.title}
      actions={retry}
      urgent
    >
      {!isListed && <Text size="sm">{allAtFields ? 'See the fields that are marked.' : error.message}</Text>}
      {rest.length > 0 && (
        <List size="sm">
          {rest.map(({ pointer, detail }) => (
            <List.Item key={`${pointer} ${detail}`}>
              {pointer && <Code>{pointer}</Code>} {detail}
            </List.Item>
          ))}
        </List>
      )}
      <Text size="sm">{nextStep(error)}</Text>
      {error.status === 401 && (
        <Anchor href={signInAddress()} size="sm">
          Sign in again
        </Anchor>
      )}
      {error.requestId && (
        <Text size="xs" c="dimmed">
          Request <Code>{error.requestId}</Code>
        </Text>
      )}
    </Notice>
  )
}

function nextStep({ status, slug, retryAfterSeconds, requestId }: HubProblem): string {
  if (status === 429) return `Too many requests for now. Try again in ${retryAfterSeconds ?? 60} seconds.`
  if (status === 403) return 'Your role does not allow this. Ask an administrator of the tenant.'
  if (slug === 'concurrent-modification') return 'Somebody changed it in the meantime. Reload, look, and try again.'
  if (status === 404) return 'It may have been removed, or your role may not see it.'
  if (status >= 500)
    return `The fault is on the side of the Hub. Try again; if it stays, ${requestId ? 'give the operator the request id' : 'tell the operator'}.`
  return ''
}
