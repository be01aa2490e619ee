import { Anchor, Button, Code, CopyButton, Group, Stack, Tabs, Text } from '@mantine/core'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { Notice } from '../../ui/notice.tsx'
import { LinkText } from '../link-text.tsx'
import { QueryBoundary, SkeletonLines } from '../query-boundary.tsx'
import { DefaultSkill } from './default-skill.tsx'
import { FirstNames } from './first-names.tsx'
import { type Snippet, snippetsFor } from './snippets.ts'
import { type Sample, useSample } from './use-sample.ts'

interface QuickStartProps {
  /** The account of the snippets; without one, an account of the tenant that may send telemetry. */
  account?: { clientId: string; clientSecret: string }
}

/** Shows how to send the first event, as snippets with names and addresses of this tenant. */
export default function QuickStart({ account }: QuickStartProps) {
  const { tenant } = useMe()
  const clientId = useClientId(account?.clientId)
  return (
    <QueryBoundary query={useSample()} what="the quick start" skeleton={<SkeletonLines lines={1} height={320} />}>
      {(sample) => (
        <Stack gap="sm">
          <ModeNotice />
          <FirstNames sample={sample} />
          <Snippets
            sample={sample}
            all={snippetsFor({
              ...sample,
              ...{ baseUrl: apiBaseUrl, tenant, clientId: clientId ?? '<client id>' },
              clientSecret: account?.clientSecret,
            })}
          />
          {account ? (
            <Text size="sm" c="dimmed">
              The snippets contain the secret. Keep them out of repositories and shared documents.
            </Text>
          ) : (
            <Credentials clientId={clientId} />
          )}
        </Stack>
      )}
    </QueryBoundary>
  )
}

/** Returns the account of the snippets: the given one, else the newest that may send telemetry now. */
function useClientId(given: string | undefined): string | undefined {
  const me = useMe()
  const accounts = api.useQuery(
    'get',
    '/api/v1/service-accounts',
    { params: { query: { limit: 1000 } } },
    { enabled: given === undefined && me.may('listServiceAccounts') },
  )
  return given ?? accounts.data?.items.findLast(maySend)?.client_id
}

type Account = ApiResponse<'listServiceAccounts'>['items'][number]

function maySend({ scopes, disabled_at, expires_at }: Account): boolean {
  const ended = expires_at !== undefined && new Date(expires_at).getTime() < Date.now()
  return scopes.includes('telemetry:write') && !disabled_at && !ended
}

function Credentials({ clientId }: { clientId: string | undefined }) {
  const me = useMe()
  const account = me.may('createServiceAccount') ? (
    <LinkText to="/settings/service-accounts" inherit underline="always">
      service account
    </LinkText>
  ) : (
    'service account'
  )
  return (
    <Text size="sm" c="dimmed">
      {clientId ? (
        <>
          {'The client id is that of an existing '}
          {account}
          {'. Replace the placeholder by its secret. A new account shows its secret once, with these snippets.'}
        </>
      ) : (
        <>
          {'The credentials are those of a '}
          {account}
          {' with the scope telemetry:write. A new account shows these snippets with its id and secret.'}
        </>
      )}
    </Text>
  )
}

function ModeNotice() {
  const me = useMe()
  const tenant = api.useQuery('get', '/api/v1/tenant', {}, { enabled: me.may('getTenant') })
  if (tenant.data?.mode !== 'C') return null
  return (
    <Notice kind="info" title="Mode C: send through the forwarder">
      In Mode C events go through the forwarder in your own network. Send them to its address instead of this one. The
      forwarder needs no token and no tenant header.
    </Notice>
  )
}

function Snippets({ sample, all }: { sample: Sample; all: readonly Snippet[] }) {
  return (
    <Tabs defaultValue={all[0]?.id ?? ''} keepMounted={false}>
      <Tabs.List aria-label="Ways to send an event">
        {all.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {all.map((snippet) => (
        <Tabs.Panel key={snippet.id} value={snippet.id} pt="xs">
          <Stack gap="xs">
            <CodeSnippet snippet={snippet} />
            {snippet.id === 'claude-code' && <DefaultSkill sample={sample} />}
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

function CodeSnippet({ snippet: { label, about, page, text } }: { snippet: Snippet }) {
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm" ta="left">
          {`${about} `}
          <Anchor href={`${apiBaseUrl}${page.path}`} inherit underline="always" target="_blank" rel="noreferrer">
            {`Documentation: ${page.name}`}
          </Anchor>
        </Text>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy} style={{ flexShrink: 0 }}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Code
        block
        ta="left"
        tabIndex={0}
        role="region"
        aria-label={`Snippet for ${label}`}
        style={{ overflow: 'auto', maxHeight: 360 }}
      >
        {text}
      </Code>
    </Stack>
  )
}
