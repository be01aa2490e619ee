import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { BackLink } from '../../components/back-link.tsx'
import { cursorOptions } from '../../components/cursor-pagination.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Steps } from './steps.tsx'

const route = getRouteApi('/sessions/$sessionId')

/** Shows everything of one session. */
export default function SessionPage() {
  const { sessionId } = route.useParams()
  const query = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/sessions/{session_id}',
    { params: { path: { session_id: sessionId }, query: {} } },
    cursorOptions,
  )
  return (
    <>
      <PageHeader title="Session" back={<BackLink to="/sessions">All sessions</BackLink>} about={sessionId} />
      <Steps query={query} what="session" />
    </>
  )
}
