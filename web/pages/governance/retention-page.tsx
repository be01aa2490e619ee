import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { RetentionForm } from './retention-form.tsx'

export default function RetentionPage() {
  const me = useMe()
  const query = api.useQuery('get', '/api/v1/hub/retention-rules', {}, { refetchOnWindowFocus: false })
  return (
    <>
      <PageHeader
        title="Retention"
        help={<Help term="Retention rule" />}
        about="How long records are kept at least and at most, by type, counted in days from when they were written. A legal hold overrides every rule."
      />
      <QueryBoundary query={query} what="retention rules">
        {(kept) => <RetentionForm key={JSON.stringify(kept)} kept={kept} mayChange={me.may('replaceRetentionRules')} />}
      </QueryBoundary>
    </>
  )
}
