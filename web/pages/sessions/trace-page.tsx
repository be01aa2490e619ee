import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { BackLink } from '../../components/back-link.tsx'
import { cursorOptions } from '../../components/cursor-pagination.ts'
import { Help } from '../../components/help.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Steps } from './steps.tsx'

const route = getRouteApi('/traces/$traceId')

/** Shows everything of one trace. */
export default function TracePage() {
  const { traceId } = route.useParams()
  const query = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/traces/{trace_id}',
    { params: { path: { trace_id: traceId }, query: {} } },
    cursorOptions,
  )
  return (
    <>
      <PageHeader
        title="Trace"
        help={<Help term="Trace" />}
        back={<BackLink to="/sessions">All sessions</BackLink>}
        about={traceId}
      />
      <Steps query={query} what="trace" />
    </>
  )
}
