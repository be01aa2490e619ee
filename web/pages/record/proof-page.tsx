import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconPrinter } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { BackLink } from '../../components/back-link.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { DownloadProof } from './download-proof.tsx'
import { CheckpointFacts, LogFacts, RecordFacts } from './proof-facts.tsx'
import { ProofVerdict } from './proof-verdict.tsx'
import { NoRecord } from './record-not-found.tsx'
import { isId } from './use-record.ts'

const route = getRouteApi('/records/$recordId/proof')

/** Shows the proof of one record on one sheet, to be printed and handed over. */
export default function ProofPage() {
  const recordId = route.useParams().recordId.toLowerCase()
  const query = api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}/proof-bundle',
    { params: { path: { record_id: recordId } } },
    { enabled: isId(recordId), staleTime: Number.POSITIVE_INFINITY },
  )
  const record = query.data?.record as unknown as HubRecord | undefined
  return (
    <>
      <PageHeader
        title={record ? `Proof: ${titleOfRecord(record)}` : 'Proof of a record'}
        back={
          <div className="not-printed">
            <BackLink to="/records/$recordId" params={{ recordId }}>
              Record
            </BackLink>
          </div>
        }
        about={recordId}
        actions={
          query.data && (
            <div className="not-printed">
              <Group gap="xs">
                <DownloadProof recordId={recordId} />
                <Button size="xs" leftSection={<IconPrinter size={15} aria-hidden />} onClick={() => window.print()}>
                  Print
                </Button>
              </Group>
            </div>
          )
        }
      />
      {isId(recordId) ? (
        <QueryBoundary query={query} what="proof" skeleton={<SkeletonLines lines={6} height={72} />}>
          {(bundle) => (
            <Stack gap="lg" maw="52rem">
              <ProofVerdict bundle={bundle} />
              <RecordFacts bundle={bundle} />
              <LogFacts bundle={bundle} />
              <CheckpointFacts bundle={bundle} />
              <HowToVerify text={bundle.how_to_verify} recordId={recordId} />
            </Stack>
          )}
        </QueryBoundary>
      ) : (
        <NoRecord>{`“${recordId}” is no record id: those have 32 hexadecimal digits and four hyphens.`}</NoRecord>
      )}
    </>
  )
}

function HowToVerify({ text, recordId }: { text: string; recordId: string }) {
  return (
    <Stack gap="xs" component="section" aria-labelledby="how-to-verify">
      <Title order={2} size="h4" id="how-to-verify">
        Verify without the Hub
      </Title>
      <Text size="sm">
        This sheet states the proof; the proof bundle contains it. Download the bundle from this page, then run one of
        the two verifiers. Neither needs a connection.
      </Text>
      <pre className="proof-text">
        {`hub verify proof-${recordId}.json --keys keys.json\npython3 verify.py --keys keys.json --bundle proof-${recordId}.json`}
      </pre>
      <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    </Stack>
  )
}
