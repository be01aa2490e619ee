import { Progress, Stack, Text } from '@mantine/core'
import { formatCount, formatPercent } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import type { ExportJob } from './export-job.ts'

/** Shows the progress of an export and its expected end. */
export function ExportProgress({ job }: { job: ExportJob }) {
  const { done, total } = job.progress
  const ratio = total > 0 ? Math.min(1, done / total) : 0
  return (
    <Stack gap={6}>
      <Progress.Root size="lg">
        <Progress.Section
          value={Math.max(2, ratio * 100)}
          animated
          aria-label="Progress of the export"
          aria-valuetext={`${formatCount(done)} of ${formatCount(total)} records`}
        />
      </Progress.Root>
      <Text size="sm" role="status">
        {job.status === 'queued'
          ? 'Queued.'
          : `${formatCount(done)} of ${formatCount(total)} records, ${formatPercent(ratio)}.`}{' '}
        Done <TimeText iso={job.estimated_completion_ts} form="ago" /> by the current estimate.
      </Text>
    </Stack>
  )
}
