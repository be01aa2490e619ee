import { Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDownload } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { BackLink } from '../../components/back-link.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { type ExportJob, fileNameIn, formatLabel, goodUntil, isUnderWay, orderAgain, pollMs } from './export-job.ts'
import { ExportProgress } from './export-progress.tsx'
import { ExportRequestForm, useExportRequest } from './export-request.tsx'
import { ExportStatus } from './export-status.tsx'
import { OfflineVerification } from './offline-verification.tsx'
import { VerificationSummary } from './verification-summary.tsx'

const route = getRouteApi('/exports/$jobId')

export default function ExportPage() {
  const { jobId } = route.useParams()
  const query = api.useQuery(
    'get',
    '/api/v1/hub/exports/{job_id}',
    { params: { path: { job_id: jobId } } },
    { refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? pollMs : false) },
  )
  return (
    <>
      <PageHeader title="Export" back={<BackLink to="/exports">All exports</BackLink>} about={jobId} />
      <QueryBoundary query={query} what="details of the export" skeleton={<Cards />}>
        {(job) => <JobDetails job={job} />}
      </QueryBoundary>
    </>
  )
}

/** Shows a placeholder of the size of a completed export, the most common state. */
function Cards() {
  return (
    <Stack gap="lg" aria-hidden>
      <Skeleton height={226} />
      <Skeleton height={226} />
      <Skeleton height={430} />
    </Stack>
  )
}

function JobDetails({ job }: { job: ExportJob }) {
  const me = useMe()
  const order = useExportRequest(job)
  // Without the original request, a repetition would export everything that the user may see.
  const again =
    me.may('createExport') &&
    (order === undefined ? (
      <Skeleton height={36} width={130} aria-hidden />
    ) : (
      <LinkButton to="/exports" search={orderAgain(job.format, order?.filter)}>
        {order ? 'Export again' : 'New export…'}
      </LinkButton>
    ))
  const unknown = order === null && <Text size="sm">You may not see which records it covered. Choose them again.</Text>
  return (
    <Stack gap="lg">
      <Paper withBorder p="md">
        <Stack gap="md">
          <Group gap="sm">
            <ExportStatus status={job.status} />
            <Text size="sm">{formatLabel(job)}</Text>
            <Text size="sm" c="dimmed">
              Requested <TimeText iso={job.created_at} />
            </Text>
          </Group>
          <ExportRequestForm order={order} />
          {isUnderWay(job) && (
            <>
              <ExportProgress job={job} />
              {me.may('cancelExport') && <CancelButton jobId={job.job_id} />}
            </>
          )}
          {job.status === 'completed' && <Files job={job} />}
          {job.status === 'failed' && (
            <Notice kind="danger" title={job.error?.title ?? 'The export failed'} actions={again}>
              <Text size="sm">{job.error?.detail}</Text>
              <Text size="sm">Nothing of it was kept. Export again; if it fails again, tell the operator its id.</Text>
              {unknown}
            </Notice>
          )}
          {job.status === 'cancelled' && (
            <Notice kind="info" title="It was cancelled" actions={again}>
              <Text size="sm">What was written of it is deleted.</Text>
              {unknown}
            </Notice>
          )}
          {job.status === 'expired' && (
            <Notice kind="info" title="Its files are deleted" actions={again}>
              <Text size="sm">
                Files of an export are kept for 24 hours. Exporting again makes new ones, with what the records are by
                then.
              </Text>
              {unknown}
            </Notice>
          )}
        </Stack>
      </Paper>
      {(job.status === 'completed' || job.status === 'expired') && (
        <Paper withBorder p="md" component="section" aria-labelledby="verification-result">
          <Title order={2} size="h3" mb="sm" id="verification-result">
            Verification by the Hub
          </Title>
          <VerificationSummary summary={job.verification_summary} />
        </Paper>
      )}
      {job.status === 'completed' && <OfflineVerification job={job} />}
    </Stack>
  )
}

function Files({ job }: { job: ExportJob }) {
  const until = goodUntil(job)
  const files = [
    { address: job.download_url, label: 'Download file', variant: 'filled' },
    { address: job.manifest_url, label: 'Download manifest', variant: 'default' },
  ]
  return (
    <Stack gap="xs">
      <Group gap="sm">
        {files.map(
          ({ address, label, variant }) =>
            address && (
              <Button
                key={label}
                component="a"
                href={address}
                download={fileNameIn(address)}
                variant={variant}
                leftSection={<IconDownload size={16} />}
              >
                {label}
              </Button>
            ),
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {until && (
          <>
            Available until <TimeText iso={until} />.{' '}
          </>
        )}
        Each address is its own credential: anyone who has it can download without signing in. Keep file and manifest in
        one folder. Each download is a governance event.
      </Text>
    </Stack>
  )
}

function CancelButton({ jobId }: { jobId: string }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" w="fit-content" onClick={open}>
        Cancel export
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={close}
        title="Cancel the export?"
        confirmLabel="Cancel export"
        cancelLabel="Let it run"
        danger
        failed="The export was not cancelled"
        send={() => hub.POST('/api/v1/hub/exports/{job_id}:cancel', { params: { path: { job_id: jobId } }, body: {} })}
        done="The export is cancelled."
        refresh={['/api/v1/hub/exports']}
      >
        <Text size="sm">What was written so far is deleted. It cannot be resumed, but exported again.</Text>
      </ConfirmDialog>
    </>
  )
}
