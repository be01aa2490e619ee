import { Paper, Stack, Text, Title } from '@mantine/core'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { TenantDetails } from '../../components/tenant-details.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ContentKey } from './content-key.tsx'
import { RateLimits } from './rate-limits.tsx'

type Tenant = ApiResponse<'getTenant'>

const modes: Record<Tenant['mode'], string> = {
  A: 'A: at the shared address of the service',
  B: 'B: at the shared address, with content encrypted under a key of your own',
  C: 'C: without content: telemetry, skills and governance events alone',
}

/** Shows the settings of the tenant. */
export default function TenantPage() {
  const me = useMe()
  const tenant = api.useQuery('get', '/api/v1/tenant', {})
  return (
    <>
      <PageHeader title="Tenant" about="Details that you confirm or change, and what the operator has set." />
      <Stack gap="xl">
        <QueryBoundary query={tenant} what="details">
          {(data) => (
            <Stack gap="xl">
              <TenantDetails tenant={data} />
              <Facts tenant={data} />
            </Stack>
          )}
        </QueryBoundary>
        {tenant.data?.mode === 'B' && me.may('getProvision') && <ContentKey slug={tenant.data.tenant} />}
        {/* Rendered after the content above, so that it does not move. */}
        {!tenant.isPending && <RateLimits />}
      </Stack>
    </>
  )
}

function Facts({ tenant }: { tenant: Tenant }) {
  const { mode, base_url, admin_email, created_at, confirmed_at, provisioned_at, live_since } = tenant
  const time = (iso: string | undefined, otherwise: string) => (iso ? <TimeText iso={iso} /> : otherwise)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="facts">
      <Title order={2} id="facts" mb="sm">
        Set by the operator
      </Title>
      <DescriptionList>
        <DescriptionItem name="Tenant">{tenant.tenant}</DescriptionItem>
        <DescriptionItem name="Mode">
          {modes[mode]}
          {mode === 'C' && (
            <Text size="xs" c="dimmed">
              Telemetry comes through the forwarder, which runs in your own cloud. An event with any field beyond its
              envelope is refused, with its whole batch.
            </Text>
          )}
        </DescriptionItem>
        <DescriptionItem name="API address">
          <CopyText value={base_url} label="Copy the API address" />
        </DescriptionItem>
        <DescriptionItem name="First administrator">{admin_email}</DescriptionItem>
        <DescriptionItem name="Created">{time(created_at, '')}</DescriptionItem>
        <DescriptionItem name="Confirmed">{time(confirmed_at, 'not yet')}</DescriptionItem>
        <DescriptionItem name="Provisioned">{time(provisioned_at, 'not yet')}</DescriptionItem>
        <DescriptionItem name="Live since">{time(live_since, 'not yet')}</DescriptionItem>
      </DescriptionList>
      {!live_since && (
        <Text size="sm" c="dimmed" mt="sm">
          What is still missing is on the{' '}
          <LinkText to="/onboarding" underline="always">
            onboarding checklist
          </LinkText>
          .
        </Text>
      )}
    </Paper>
  )
}
