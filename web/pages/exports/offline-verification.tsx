import { Code, Paper, Stack, Text, Title } from '@mantine/core'
import { CopyText } from '../../ui/copy-text.tsx'
import { type ExportJob, fileNameIn } from './export-job.ts'
import { VerifyFile } from './verify-file.tsx'

/** Explains how to verify the file without the Hub: here, or by the command on any machine. */
export function OfflineVerification({ job }: { job: ExportJob }) {
  const file = job.download_url ? fileNameIn(job.download_url) : 'FILE'
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="own-verification">
      <Title order={2} size="h3" mb="sm" id="own-verification">
        Verify it yourself
      </Title>
      <Stack gap="md">
        <Stack gap={6}>
          <Text size="sm">
            On any machine with the checkout, without the Hub and without a network
            {job.evidence_pack ? ':' : ', with the manifest beside the file:'}
          </Text>
          <CopyText value={`npm run hub -- verify ${file} --keys keys.json`} label="Copy the command" />
          <Text size="sm" c="dimmed">
            <Code>keys.json</Code> is your own copy of <Code>/.well-known/provenance-keys.json</Code>, kept from early
            on. It checks every record, that none is missing, and that the file matches the manifest.
          </Text>
        </Stack>
        {job.format === 'jsonl' && !job.evidence_pack && <VerifyFile />}
      </Stack>
    </Paper>
  )
}
