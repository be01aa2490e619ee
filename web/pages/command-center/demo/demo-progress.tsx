import { Button, Group, Paper, Progress, Text } from '@mantine/core'
import { useMe } from '../../../api/me.ts'
import { HubProblem, HubUnreachable } from '../../../api/problem.ts'
import { ProblemNotice } from '../../../components/problem-notice.tsx'
import { formatPercent } from '../../../ui/formats.ts'
import { Notice } from '../../../ui/notice.tsx'
import { useDemo, useDemoProgress } from './demo-load.ts'
import { demoCommand } from './demo-offer.tsx'

/** Shows the progress of the load of demo data, why it stopped, or that an earlier one did not end. */
export default function DemoProgress() {
  const { tenant } = useMe()
  const { load, isUnfinished, start } = useDemo()
  if (load.state === 'loading') return <Loading />
  if (load.state === 'none' && !isUnfinished) return null
  return (
    <Paper mb="md" component="section" aria-label="Demo data">
      {load.state === 'failed' ? (
        <Failure error={load.error} onRetry={start} />
      ) : (
        <Notice
          kind="info"
          title="The demo data is not complete"
          actions={
            <Button size="xs" onClick={start}>
              Load the rest
            </Button>
          }
        >
          {`An earlier load did not end. ${demoCommand(tenant)} loads the rest, too.`}
        </Notice>
      )}
    </Paper>
  )
}

function Loading() {
  const { step, done, total } = useDemoProgress() ?? { step: 'Trace', done: 0, total: 1 }
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="Demo data">
      <Group justify="space-between" mb={6} gap="xs">
        <Text size="sm" fw={600} role="status">{`Loading demo data: ${step}`}</Text>
        <Text size="sm" c="dimmed" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {formatPercent(Math.floor((100 * done) / total) / 100)}
        </Text>
      </Group>
      <Progress value={(100 * done) / total} aria-label="Demo data loaded" />
      <Text size="xs" c="dimmed" mt={6}>
        Keep this window open. Other pages of the Hub can be used meanwhile.
      </Text>
    </Paper>
  )
}

/** Shows why the load stopped. Stored data stays: the next load writes the rest. */
function Failure({ error, onRetry }: { error: unknown; onRetry(): void }) {
  if (error instanceof HubProblem) {
    return <ProblemNotice error={error} title="The demo data could not be loaded" onRetry={onRetry} />
  }
  const isUnreachable = error instanceof HubUnreachable
  return (
    <Notice
      kind="warning"
      title="The demo data could not be loaded"
      actions={
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      }
      urgent
    >
      {isUnreachable
        ? 'Cannot reach the Hub. Check that it runs, then try again: the load continues where it stopped.'
        : error instanceof Error
          ? error.message
          : String(error)}
    </Notice>
  )
}
