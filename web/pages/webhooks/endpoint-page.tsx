import { Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { BackLink } from '../../components/back-link.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Deliveries } from './deliveries.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { OpenAlerts } from './open-alerts.tsx'

const route = getRouteApi('/webhooks/$webhookId')

/** Shows one endpoint: its health, its deliveries, and its actions. */
export default function EndpointPage() {
  const { webhookId } = route.useParams()
  const webhook = api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}',
    { params: { path: { webhook_id: webhookId } } },
    { refetchInterval: 10_000 },
  )
  const { data } = webhook
  return (
    <>
      <PageHeader
        title={data?.description || 'Endpoint'}
        back={<BackLink to="/webhooks">All endpoints</BackLink>}
        about={<span style={{ overflowWrap: 'anywhere' }}>{data?.url ?? webhookId}</span>}
        actions={data && <EndpointActions webhook={data} />}
      />
      <QueryBoundary query={webhook} what="endpoint">
        {(loaded) => (
          <Stack gap="xl">
            <EndpointFacts webhook={loaded} />
            {(loaded.alerts?.length ?? 0) > 0 && loaded.enabled && <OpenAlerts webhookId={webhookId} />}
            <Deliveries webhook={loaded} />
          </Stack>
        )}
      </QueryBoundary>
    </>
  )
}
