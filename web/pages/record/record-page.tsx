import { IconArrowLeft } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { LinkButton } from '../../components/link-button.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { RecordDetails } from './record-details.tsx'
import { useRecord } from './use-record.ts'

const route = getRouteApi('/records/$recordId')

export default function RecordPage() {
  // Ids are the same in capitals; the Hub writes them small.
  const recordId = route.useParams().recordId.toLowerCase()
  const { data } = useRecord(recordId)
  return (
    <>
      <PageHeader
        title={data ? titleOfRecord(data.record) : 'Record'}
        about={recordId}
        actions={
          <LinkButton size="sm" to="/records" leftSection={<IconArrowLeft size={16} aria-hidden />}>
            All records
          </LinkButton>
        }
      />
      <div style={{ maxWidth: '60rem' }}>
        <RecordDetails key={recordId} recordId={recordId} />
      </div>
    </>
  )
}
