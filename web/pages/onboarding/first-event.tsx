import { Button, Code, CopyButton, Group, Loader, Stack, Tabs, Text } from '@mantine/core'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'

interface Sample {
  tenant: string
  skillId: string
  skillVersion: string
  archetypeId: string
  user: string
}

/** Shows how to send the first event, with names that exist in this tenant and without a secret; then waits for it. */
export function FirstEvent() {
  const me = useMe()
  const skills = api.useQuery('get', '/api/v1/skill-entitlement/skills', { params: { query: { limit: 100 } } })
  const grants = api.useQuery('get', '/api/v1/skill-entitlement/grants', { params: { query: { limit: 1 } } })
  const users = api.useQuery('get', '/api/v1/roster/users', {
    params: { query: { limit: 1, matched: true, active: true } },
  })
  const tenant = api.useQuery('get', '/api/v1/tenant', {}, { enabled: me.may('getTenant') })
  return (
    <Stack gap="sm">
      <Group gap="xs" role="status">
        <Loader size={14} aria-hidden />
        <Text size="sm">Waiting for the first event …</Text>
      </Group>
      <QueryBoundary query={skills} what="skills" skeleton={<SkeletonLines lines={1} height={220} />}>
        {({ items }) => {
          const granted = grants.data?.items[0]
          const skill =
            items.find(({ skill_id }) => skill_id === granted?.skill_id) ??
            items.find(({ state }) => state === 'published')
          const version = skill?.versions.at(-1)
          const person = users.data?.items[0]
          const archetypeId = granted?.archetype_id ?? person?.archetype_ids[0]
          if (!skill || !version || !archetypeId) {
            return (
              <Notice kind="info" title="First publish a skill and grant it">
                An event names a skill and an archetype that exist. As soon as there are some, a ready command stands
                here.
              </Notice>
            )
          }
          const sample = {
            tenant: me.tenant,
            skillId: skill.skill_id,
            skillVersion: version.skill_version,
            archetypeId,
            user: person?.email ?? 'somebody@example.com',
          }
          return (
            <Tabs defaultValue={tenant.data?.mode === 'C' ? 'forwarder' : 'curl'}>
              <Tabs.List aria-label="Ways to send an event">
                <Tabs.Tab value="curl">curl</Tabs.Tab>
                <Tabs.Tab value="sdk">TypeScript</Tabs.Tab>
                {tenant.data?.mode === 'C' && <Tabs.Tab value="forwarder">Forwarder</Tabs.Tab>}
              </Tabs.List>
              <Tabs.Panel value="curl" pt="xs">
                <Snippet text={curl(sample)} />
              </Tabs.Panel>
              <Tabs.Panel value="sdk" pt="xs">
                <Snippet text={typescript(sample)} />
              </Tabs.Panel>
              {tenant.data?.mode === 'C' && (
                <Tabs.Panel value="forwarder" pt="xs">
                  <Text size="sm">
                    In mode C events go through the forwarder in your own network: send them to its address in place of
                    this one. It needs no token and no tenant header.
                  </Text>
                </Tabs.Panel>
              )}
            </Tabs>
          )
        }}
      </QueryBoundary>
      <Text size="sm" c="dimmed">
        The credentials are those of a{' '}
        {me.may('createServiceAccount') ? (
          <LinkText to="/settings/service-accounts" inherit underline="always">
            service account
          </LinkText>
        ) : (
          'service account'
        )}{' '}
        with the scope telemetry:write.
      </Text>
    </Stack>
  )
}

function Snippet({ text }: { text: string }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Code block w="100%" tabIndex={0} aria-label="Command" style={{ overflowX: 'auto' }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Stack>
  )
}

const eventOf = ({ skillId, skillVersion, archetypeId, user }: Sample) => ({
  ...{ skill_id: skillId, skill_version: skillVersion, archetype_id: archetypeId, user_id: `user:${user}` },
  ...{ llm_platform: 'claude', llm_model: 'claude-sonnet-4-5', ts: new Date().toISOString(), success: true },
  ...{ latency_ms: 1840, tokens_in: 1250, tokens_out: 310, cost_usd_estimate: 0.0085 },
})

function curl(sample: Sample): string {
  return `TOKEN=$(curl -s -u "$HUB_CLIENT_ID:$HUB_CLIENT_SECRET" \\
  -d grant_type=client_credentials -d scope=telemetry:write \\
  ${apiBaseUrl}/api/v1/oauth/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl ${apiBaseUrl}/api/v1/telemetry/events \\
  -H "Authorization: Bearer $TOKEN" -H 'X-Service-Tenant: ${sample.tenant}' \\
  -H 'Content-Type: application/json' -d '${JSON.stringify(eventOf(sample), null, 2)}'`
}

function typescript(sample: Sample): string {
  return `import { HubClient } from './hub-client.ts' // sdk/ of the Hub

const hub = new HubClient({
  baseUrl: '${apiBaseUrl}',
  tenant: '${sample.tenant}',
  clientId: process.env.HUB_CLIENT_ID,
  clientSecret: process.env.HUB_CLIENT_SECRET,
})
await hub.post('/api/v1/telemetry/events', {
  body: ${JSON.stringify(eventOf(sample), null, 2).replaceAll('\n', '\n  ')},
})`
}
