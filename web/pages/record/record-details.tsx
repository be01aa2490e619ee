import { Accordion, Group, List, Stack, Text } from '@mantine/core'
import { IconBinaryTree2, IconPrinter } from '@tabler/icons-react'
import { useMe } from '../../api/me.ts'
import { HubProblem } from '../../api/problem.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { causeOf } from '../../components/record-actor.ts'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTypeBadge } from '../../components/record-type.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { VerificationCard } from '../../verification/verification-card.tsx'
import { DownloadProof } from './download-proof.tsx'
import { RawText } from './raw-text.tsx'
import { RecordActions } from './record-actions.tsx'
import { RecordContent } from './record-content.tsx'
import { RecordErrorBoundary } from './record-error-boundary.tsx'
import { NoRecord, RecordNotFound } from './record-not-found.tsx'
import { HeldBadge, RecordHolds, RecordPurge, RecordRetention } from './record-state.tsx'
import { isId, type ReadRecord, useRecord, useRecordState } from './use-record.ts'

/** Shows a whole record: its content, its verification, its holds and retention, and its actions. */
export function RecordDetails({ recordId }: { recordId: string }) {
  const query = useRecord(recordId)
  // Requested in parallel with the record.
  useRecordState(recordId)
  if (!isId(recordId))
    return <NoRecord>{`“${recordId}” is no record id: those have 32 hexadecimal digits and four hyphens.`}</NoRecord>
  if (query.error instanceof HubProblem && query.error.status === 404)
    return <RecordNotFound recordId={recordId} refusal={query.error} />
  return (
    <QueryBoundary query={query} what="record" skeleton={<SkeletonLines lines={8} height={56} />}>
      {(read) => <Details recordId={recordId} read={read} onReload={() => void query.refetch()} />}
    </QueryBoundary>
  )
}

function Details({ recordId, read, onReload }: { recordId: string; read: ReadRecord; onReload(): void }) {
  const { record, json, readAt } = read
  const { may } = useMe()
  const cause = causeOf(record)
  // A forged record may contain any value here.
  const related = Array.isArray(record.related_records) ? record.related_records.map(String) : []
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <RecordTypeBadge type={record.record_type} />
          <RecordErrorBoundary of={readAt}>
            <HeldBadge record={record} />
          </RecordErrorBoundary>
        </Group>
        <Group gap="xs">
          {may('getRelatedRecords') && (
            <LinkButton
              size="xs"
              to="/records/$recordId/graph"
              params={{ recordId }}
              leftSection={<IconBinaryTree2 size={15} aria-hidden />}
            >
              Open graph
            </LinkButton>
          )}
          {may('getProofBundle') && (
            <>
              <DownloadProof recordId={record.record_id} />
              <LinkButton
                size="xs"
                to="/records/$recordId/proof"
                params={{ recordId }}
                leftSection={<IconPrinter size={15} aria-hidden />}
              >
                Print proof
              </LinkButton>
            </>
          )}
          <RecordActions read={read} />
        </Group>
      </Group>
      <RecordErrorBoundary of={readAt}>
        <RecordPurge record={record} />
      </RecordErrorBoundary>
      <VerificationCard
        recordId={recordId}
        record={json}
        readAt={readAt}
        server={record.verification}
        onReload={onReload}
      />
      <RecordErrorBoundary of={readAt}>
        <RecordContent record={record} />
      </RecordErrorBoundary>
      {/* It loads later than the record, and must not push down content that the user reads already. */}
      <RecordErrorBoundary of={readAt}>
        <RecordHolds record={record} />
      </RecordErrorBoundary>
      <Accordion multiple defaultValue={['record']} variant="separated" order={2}>
        <Accordion.Item value="record">
          <Accordion.Control>Record</Accordion.Control>
          <Accordion.Panel>
            <RecordErrorBoundary of={readAt}>
              <DescriptionList>
                <DescriptionItem name="Record id">
                  <CopyText value={record.record_id} label="Copy record id" />
                </DescriptionItem>
                <DescriptionItem name="Created">
                  <TimeText iso={record.created_at} />
                </DescriptionItem>
                <DescriptionItem name={cause === record.created_by ? 'Created by' : 'Caused by'}>
                  {/* As a flex item a long name is truncated; within text it would widen the page. */}
                  <Group component="span" wrap="nowrap">
                    <ActorName id={cause} />
                  </Group>
                </DescriptionItem>
                <DescriptionItem name="Tenant">{record.tenant_id}</DescriptionItem>
                <DescriptionItem name="Schema">{record.schema_version}</DescriptionItem>
              </DescriptionList>
              <RecordRetention record={record} />
            </RecordErrorBoundary>
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="related">
          <Accordion.Control>Related records ({related.length})</Accordion.Control>
          <Accordion.Panel>
            {related.length === 0 ? (
              <Text size="sm" c="dimmed">
                It names none. Records that name it are in its graph.
              </Text>
            ) : (
              <List size="sm">
                {related.map((id) => (
                  <List.Item key={id} style={{ overflowWrap: 'anywhere' }}>
                    <RecordLink id={id} />
                  </List.Item>
                ))}
              </List>
            )}
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="raw">
          <Accordion.Control>Canonical text, hash and command</Accordion.Control>
          <Accordion.Panel>
            <RawText read={read} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Stack>
  )
}
