import { Button, Group, List, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck, IconDownload, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type CertificateChecks, type JsonValue, verifyDeletionCertificate } from '../../../provenance/index.ts'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { recordTypeLooks } from '../../components/record-type.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { verifierOf } from '../../verification/use-verification.ts'
import { logKeys } from '../../verification/verify-record.ts'

type Certificate = ApiResponse<'getDeletionCertificate'>

/** The text of each check that passed (docs/verification.md). */
const checkWords: Readonly<Record<keyof CertificateChecks, string>> = {
  well_formed: 'It has all that a certificate needs.',
  seal_signed: 'A key that this browser trusts signed the seal that the record was in.',
  leaf_in_seal: 'What is left of the record is a leaf of that seal.',
  seal_in_log: 'The seal is in the log, up to a signed state of it.',
  events_verified: 'The events of the purge and the erasure were sealed and signed by the same log.',
  events_agree: 'They name this record, and it was not erased before the end of its recovery period.',
}

interface CertificateDrawerProps {
  recordId: string | undefined
  onClose(): void
}

/** Shows the proof that a record existed and was erased, verified by the browser. */
export function CertificateDrawer({ recordId, onClose }: CertificateDrawerProps) {
  const query = api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}/deletion-certificate',
    { params: { path: { record_id: recordId ?? '' } } },
    { enabled: recordId !== undefined },
  )
  return (
    <SidePanel
      opened={recordId !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      kind="Deletion certificate"
      title={query.data && recordTypeLooks[query.data.record_type].label}
    >
      {recordId && (
        <QueryBoundary query={query} what="parts of the certificate">
          {(certificate) => <CertificateDetails certificate={certificate} />}
        </QueryBoundary>
      )}
    </SidePanel>
  )
}

export function CertificateDetails({ certificate }: { certificate: Certificate }) {
  const { record_id } = certificate
  const download = () =>
    saveFile(
      `deletion-certificate-${record_id}.json`,
      new Blob([`${JSON.stringify(certificate, null, 2)}\n`], { type: 'application/json' }),
    )
  return (
    <Stack gap="lg">
      <DescriptionList>
        <DescriptionItem name="Record">
          <CopyText value={record_id} label="Copy the id of the record" />
        </DescriptionItem>
        <DescriptionItem name="Type">{recordTypeLooks[certificate.record_type].label}</DescriptionItem>
        <DescriptionItem name="Purged">
          <TimeText iso={certificate.purged_at} /> by <ActorName id={certificate.purged_by} />
        </DescriptionItem>
        <DescriptionItem name="Because">{certificate.purge_reason}</DescriptionItem>
        <DescriptionItem name="Erased">
          <TimeText iso={certificate.erased_at} />
        </DescriptionItem>
        <DescriptionItem name="What is left">
          <CopyText value={certificate.leaf_hash} label="Copy the hash of the leaf" />
        </DescriptionItem>
        <DescriptionItem name="Events">
          <LinkText to="/governance" search={{ event: certificate.events.erased.record_id }} size="sm">
            Erasure
          </LinkText>
          {certificate.events.purged && (
            <>
              {' · '}
              <LinkText to="/governance" search={{ event: certificate.events.purged.record_id }} size="sm">
                Purge
              </LinkText>
            </>
          )}
        </DescriptionItem>
      </DescriptionList>
      <CertificateVerification certificate={certificate} />
      <Group>
        <Button variant="default" leftSection={<IconDownload size={16} />} onClick={download}>
          Download as JSON
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        Keep it with the keys of the log: `hub verify` checks it on a machine of yours, years later and without the Hub.
      </Text>
    </Stack>
  )
}

function CertificateVerification({ certificate }: { certificate: Certificate }) {
  const { tenant } = useMe()
  const query = useQuery({
    queryKey: ['verification', tenant, 'certificate', certificate.record_id],
    queryFn: async () => {
      const verifier = await verifierOf(tenant)
      const keys = await logKeys(verifier)
      const result = await verifyDeletionCertificate(certificate as unknown as JsonValue, keys.trusted, verifier.crypto)
      return { result, keys }
    },
    structuralSharing: false,
  })
  return (
    <section aria-labelledby="certificate-verification">
      <Title order={3} size="h4" mb="xs" id="certificate-verification">
        Verified in this browser
      </Title>
      <QueryBoundary query={query} what="keys of the log">
        {({ result, keys }) => (
          <Stack gap="sm">
            <Notice
              kind={result.verified ? 'good' : 'tampered'}
              title={result.verified ? 'The certificate is genuine' : 'The certificate does not hold'}
              urgent
            >
              {result.verified
                ? 'Your browser checked it by itself, with the keys of the log.'
                : 'Keep it unchanged, and ask the operator of the Hub. The failed steps are listed below.'}
            </Notice>
            <List spacing={6} size="sm" center={false} listStyleType="none">
              {Object.entries(checkWords).map(([check, words]) => {
                const failure = result.failures.find((each) => each.check === check)
                return (
                  <List.Item key={check} icon={<CheckIcon passed={!failure} />}>
                    {failure ? `${words.replace(/\.$/, '')}: this is not so, ${failure.detail}.` : words}
                  </List.Item>
                )
              })}
            </List>
            {keys.problems.map((problem) => (
              <Notice key={problem} kind="warning" title="Keys">
                {problem}
              </Notice>
            ))}
          </Stack>
        )}
      </QueryBoundary>
    </section>
  )
}

function CheckIcon({ passed }: { passed: boolean }) {
  return (
    <ThemeIcon size={20} radius="xl" color={passed ? 'seal' : 'red'} variant="light">
      {passed ? <IconCheck size={13} aria-label="Passed:" /> : <IconX size={13} aria-label="Failed:" />}
    </ThemeIcon>
  )
}
