import { getRouteApi } from '@tanstack/react-router'
import { BackLink } from '../../components/back-link.tsx'
import { Help } from '../../components/help.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { RecordDetails } from './record-details.tsx'
import { useRecord } from './use-record.ts'

const route = getRouteApi('/records/$recordId')

export default function RecordPage() {
  // Ids are case-insensitive; the Hub writes them in lower case.
  const recordId = route.useParams().recordId.toLowerCase()
  const { data } = useRecord(recordId)
  return (
    <>
      <PageHeader
        title={data ? titleOfRecord(data.record) : 'Record'}
        help={<Help term="Seal" />}
        back={<BackLink to="/records">All records</BackLink>}
        about={recordId}
      />
      <div style={{ maxWidth: '64rem' }}>
        <RecordDetails key={recordId} recordId={recordId} />
      </div>
    </>
  )
}
