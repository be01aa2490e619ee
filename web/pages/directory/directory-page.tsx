import { Grid, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { isMissing } from '../../api/problem.ts'
import { ConnectionTest, type StepLabels } from '../../components/connection-test.tsx'
import { Help } from '../../components/help.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { RosterSyncs, syncsInit, syncsPath } from '../roster/roster-syncs.tsx'
import { DirectoryForm, type Scim, scimPath } from './directory-form.tsx'
import { DirectorySecrets } from './directory-secrets.tsx'

const words: StepLabels = {
  address: {
    title: 'Address',
    advice:
      'Correct the address of the directory. A private address has to be allowed by the operator of the Hub (HUB_OUTBOUND_ALLOW).',
  },
  reachable: {
    title: 'Reachable',
    advice: 'Have the directory answer at this address, and let the Hub through its firewall.',
  },
  token: {
    title: 'Token',
    advice:
      'Push: rotate the token. Pull: make one at the directory that may read users and groups, and save it above.',
  },
  users: { title: 'People', advice: 'Let the token read the users of the directory.' },
  groups: { title: 'Groups', advice: 'Let the token read the groups, or take the groups out of the map above.' },
  settings: { title: 'What to enter at the directory' },
  last_request: {
    title: 'Last call of the directory',
    advice: 'Enter address and token at the directory, and have it test the connection there.',
  },
}

export default function DirectoryPage() {
  const scim = api.useQuery('get', scimPath)
  // Loaded together with the settings, because it is shown above them.
  const syncs = api.useQuery('get', syncsPath, syncsInit)
  const [secrets, setSecrets] = useState<{ label: string; value: string }[]>()
  const show = ({ bearer_token, inbound, scim_base_url }: Partial<Scim>) => {
    const shown = [
      ...(bearer_token
        ? [
            { label: 'Address', value: scim_base_url ?? '' },
            { label: 'Bearer token', value: bearer_token },
          ]
        : []),
      ...(inbound?.secret ? [{ label: 'Secret for inbound messages', value: inbound.secret }] : []),
    ]
    if (shown.length > 0) setSecrets(shown)
  }
  return (
    <>
      <PageHeader
        title="Directory"
        help={<Help term="Directory" />}
        about="People and groups come from the directory of the company by SCIM, and leave with it."
      />
      {isMissing(scim) ? (
        <Paper withBorder p="md">
          <Title order={2} mb="sm">
            Connect the directory
          </Title>
          <DirectoryForm scim={undefined} onSaved={show} />
        </Paper>
      ) : (
        <QueryBoundary query={scim} what="settings" skeleton={<SkeletonLines lines={5} height={80} />}>
          {(data) =>
            syncs.isLoading && !syncs.failureReason ? (
              <SkeletonLines lines={5} height={80} />
            ) : (
              <Configured scim={data} onSecrets={show} />
            )
          }
        </QueryBoundary>
      )}
      <OneTimeSecret
        title="Keep these now"
        about="Enter the token with the address at the directory. The secret for inbound messages is for what the identity provider sends by webhook; keep it even if it sends nothing yet. Lost ones can be rotated."
        secrets={secrets}
        onClose={() => setSecrets(undefined)}
      />
    </>
  )
}

function Configured({ scim, onSecrets }: { scim: Scim; onSecrets(shown: Partial<Scim>): void }) {
  const unknown = scim.unknown_archetypes ?? []
  return (
    <Stack>
      {unknown.length > 0 && (
        <Notice kind="warning" title="Groups are mapped to archetypes that the tenant does not have">
          <Text size="sm">
            {`${unknown.join(', ')}: nobody comes to them before they are added. `}
            <LinkText to="/skills/roster" search={{ tab: 'archetypes' }} inherit underline="always">
              Add archetypes
            </LinkText>
          </Text>
        </Notice>
      )}
      <RosterSyncs mode={scim.mode} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Paper withBorder p="md" component="section" aria-labelledby="directory-settings">
            <Title order={2} id="directory-settings" mb="sm">
              Settings
            </Title>
            <DirectoryForm key={scim.updated_at} scim={scim} onSaved={onSecrets} />
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Stack>
            <ConnectionTest
              about="Uses the saved settings, step by step, and changes nothing."
              words={words}
              send={() => hub.POST('/api/v1/identity/scim:test', {})}
            />
            <DirectorySecrets scim={scim} onSecrets={onSecrets} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}
