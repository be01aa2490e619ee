import { Stack, Text } from '@mantine/core'
import { IconFileOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { api } from '../../api/api-client.ts'
import { HubProblem } from '../../api/problem.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Notice } from '../../ui/notice.tsx'
import { CertificateDetails } from '../governance/certificate-details.tsx'

interface RecordGoneProps {
  recordId: string
  /** The Hub's reason. */
  refusal: HubProblem
}

/**
 * Shows why the Hub does not return a record: it is erased, of a type that the user may not see, or never existed. Or
 * its content was lost with the customer's key: then the record exists, and there is no certificate.
 */
export function RecordNotFound({ recordId, refusal }: RecordGoneProps) {
  const certificate = api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}/deletion-certificate',
    { params: { path: { record_id: recordId } } },
    { retry: false },
  )
  const failure: unknown = certificate.error
  if (failure instanceof HubProblem && failure.status === 404) {
    return (
      <NoRecord>
        Nothing with this id was written in this tenant, or your role may not see records of its type. An erased record
        would have a deletion certificate; there is none.
      </NoRecord>
    )
  }
  if (failure instanceof HubProblem && failure.status === 409) {
    return (
      <EmptyState
        title="This record cannot be shown"
        icon={IconFileOff}
        action={<LinkButton to="/records">Search records</LinkButton>}
      >
        {refusal.message}
      </EmptyState>
    )
  }
  return (
    <Stack>
      <Text>This record was erased. What is left of it is its deletion certificate.</Text>
      <QueryBoundary query={certificate} what="deletion certificate">
        {(found) =>
          found.record_id === recordId ? (
            <CertificateDetails certificate={found} />
          ) : (
            <Notice kind="tampered" title="The certificate is of another record" urgent>
              {`The Hub answered the certificate of ${found.record_id}. It proves nothing about this record.`}
            </Notice>
          )
        }
      </QueryBoundary>
    </Stack>
  )
}

/** Shows that no record is available, and why. */
export function NoRecord({ children }: { children: ReactNode }) {
  return (
    <EmptyState
      title="There is no such record"
      icon={IconFileOff}
      action={<LinkButton to="/records">Search records</LinkButton>}
    >
      {children}
    </EmptyState>
  )
}
