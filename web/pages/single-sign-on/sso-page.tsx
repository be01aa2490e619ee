import { Button, Grid, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { type ApiResponse, api, hub } from '../../api/api-client.ts'
import { isMissing } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ConnectionTest, type StepLabels } from '../../components/connection-test.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { SsoForm, ssoPath } from './sso-form.tsx'
import { SsoHints } from './sso-hints.tsx'

const words: StepLabels = {
  address: {
    title: 'Address of the issuer',
    advice:
      'Correct the issuer, or have its name resolve. A private address has to be allowed by the operator of the Hub (HUB_OUTBOUND_ALLOW).',
  },
  discovery: {
    title: 'Configuration of the provider',
    advice:
      'Open the issuer with /.well-known/openid-configuration at its end in a browser: the issuer that stands there is the one to enter, letter for letter.',
  },
  endpoints: {
    title: 'Endpoints',
    advice: 'The provider names endpoints that the Hub may not connect to. Correct them there, or have them allowed.',
  },
  keys: { title: 'Keys', advice: 'The provider publishes no key that signatures can be verified with. Mend it there.' },
  client: {
    title: 'Client',
    advice: 'Enter client id and client secret again, as the provider shows them now. A secret may have expired there.',
  },
}

export default function SsoPage() {
  const sso = api.useQuery('get', ssoPath)
  const none = isMissing(sso)
  return (
    <>
      <PageHeader
        title="Single sign-on"
        about="People sign in with the account of the company, at any OpenID Connect provider."
      />
      {none ? (
        <Configure sso={undefined} />
      ) : (
        <QueryBoundary query={sso} what="settings" skeleton={<SkeletonLines lines={5} height={64} />}>
          {(data) => <Configure key={data.connection_id + data.updated_at} sso={data} />}
        </QueryBoundary>
      )}
    </>
  )
}

function Configure({ sso }: { sso: ApiResponse<'getSso'> | undefined }) {
  const tenant = api.useQuery('get', '/api/v1/tenant', {}, { enabled: !sso })
  const redirect = sso?.redirect_uri ?? `${tenant.data?.base_url ?? apiBaseUrl}/api/v1/auth/callback`
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, lg: 8 }} order={{ base: 1, lg: 1 }}>
        <Stack>
          <Paper withBorder p="md" component="section" aria-labelledby="provider">
            <Title order={2} id="provider" mb={4}>
              Identity provider
            </Title>
            {sso && (
              <Text size="sm" c="dimmed" mb="sm">
                Changed <TimeText iso={sso.updated_at} />
              </Text>
            )}
            <SsoForm sso={sso} />
          </Paper>
          {sso && (
            <ConnectionTest
              about="Uses the saved settings, step by step, and changes nothing."
              words={words}
              send={() => hub.POST('/api/v1/identity/sso:test', {})}
            />
          )}
          {sso && <Remove />}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }} order={{ base: sso ? 2 : 0, lg: 2 }}>
        <Stack>
          <Paper withBorder p="md" component="section" aria-labelledby="redirect">
            <Title order={2} id="redirect" mb={4}>
              Redirect address
            </Title>
            <Text size="sm" c="dimmed" mb="xs">
              {sso ? 'The provider has to know it (redirect URI).' : 'Enter it at the provider first (redirect URI).'}
            </Text>
            <CopyText value={redirect} label="Copy redirect address" />
          </Paper>
          <SsoHints />
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

function Remove() {
  const [asks, setAsks] = useState(false)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="remove-sso">
      <Title order={2} id="remove-sso" mb={4}>
        Remove single sign-on
      </Title>
      <Text size="sm" mb="sm">
        People then sign in by links that are sent to their addresses.
      </Text>
      <Button variant="light" color="red" onClick={() => setAsks(true)}>
        Remove
      </Button>
      <ConfirmDialog
        opened={asks}
        onClose={() => setAsks(false)}
        title="Remove single sign-on?"
        confirmLabel="Remove single sign-on"
        danger
        failed="Single sign-on could not be removed"
        send={() => hub.DELETE(ssoPath, {})}
        done="Single sign-on is removed."
        onDone={() => queryClient.resetQueries({ queryKey: ['get', ssoPath] })}
      >
        <Text size="sm">
          Nobody signs in by the provider any more; people get links by e-mail instead. Sessions that run go on, for 8
          hours at most: deactivate whom that is too long for. People, roles and archetypes stay. Configured again, it
          is a new connection, and people are matched again by their addresses.
        </Text>
      </ConfirmDialog>
    </Paper>
  )
}
