import { Group, Paper, Stack, Text } from '@mantine/core'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import type { ExportJob } from './export-job.ts'

/** Shows the result of the Hub's verification of each record of an export. */
export function VerificationSummary({ summary }: { summary: ExportJob['verification_summary'] }) {
  if (!summary) {
    return (
      <Text size="sm" c="dimmed">
        It was requested without verification by the Hub. You can still verify the file, see below.
      </Text>
    )
  }
  const { checked, verified, tampered, cosign_invalid } = summary
  const isGood = verified === checked
  const figures = { Checked: checked, Verified: verified, Tampered: tampered, 'Cosignature invalid': cosign_invalid }
  return (
    <Stack gap="sm">
      <Notice
        kind={isGood ? 'good' : 'tampered'}
        title={
          isGood
            ? 'All records verified'
            : `${formatCount(checked - verified)} of ${formatCount(checked)} records failed`
        }
      >
        {isGood
          ? 'The Hub verified each one as it wrote the file. Your own check of the file needs no word of the Hub.'
          : 'They are in the file like the others, and each row says what failed. Review the tamper alerts, and do not rely on these records.'}
      </Notice>
      <Group gap="sm" component="dl" m={0}>
        {Object.entries(figures).map(([name, count]) => (
          <Paper withBorder px="md" py="xs" key={name} component="div">
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" m={0} fw={600} size="lg" style={{ fontVariantNumeric: 'tabular-nums' }}>
              {formatCount(count)}
            </Text>
          </Paper>
        ))}
      </Group>
    </Stack>
  )
}
