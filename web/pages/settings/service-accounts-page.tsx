import { Button, Code, Stack, Text } from '@mantine/core'
import { IconPlus, IconRobot } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { secretOverlapHours } from '../../../contract/limits.ts'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { useAdding } from '../../components/use-adding.ts'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { type ServiceAccount, ServiceAccountForm } from './service-account-form.tsx'
import { type AccountAction, ServiceAccountsTable } from './service-accounts-table.tsx'

const FirstArrival = lazy(() => import('../../components/quick-start/first-arrival.tsx'))
const QuickStart = lazy(() => import('../../components/quick-start/quick-start.tsx'))

interface Shown {
  clientId: string
  secret: string
  /** True for a new account that may send telemetry. */
  isSender?: boolean
  formerUntil?: string
}

/** Manages credentials of programs: create, change, rotate, disable. */
export default function ServiceAccountsPage() {
  const me = useMe()
  const [creating, { open: startCreating, close: endCreating }] = useAdding()
  const [asked, setAsked] = useState<{ action: AccountAction; account: ServiceAccount }>()
  const [shown, setShown] = useState<Shown>()
  const accounts = api.useQuery('get', '/api/v1/service-accounts', { params: { query: { limit: 1000 } } })
  const changed = asked?.action === 'change' ? asked.account : undefined
  const close = () => {
    if (creating) endCreating()
    setAsked(undefined)
  }
  const account = asked?.account
  const params = { path: { client_id: account?.client_id ?? '' } }

  const create = me.may('createServiceAccount') && (
    <Button leftSection={<IconPlus size={16} />} onClick={startCreating}>
      Add service account
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Service accounts"
        help={<Help term="Service account" />}
        about="Credentials for programs that send telemetry, write records or read them. Give each program its own, with as little as it needs."
        actions={accounts.data?.items.length ? create : undefined}
      />
      <QueryBoundary query={accounts} what="service accounts">
        {({ items }) =>
          items.length > 0 ? (
            <ServiceAccountsTable accounts={items} onAsk={setAsked} />
          ) : (
            <EmptyState title="No service accounts yet" icon={IconRobot} action={create}>
              A program signs in with a client id and a secret. Make an account for the one that sends telemetry first.
            </EmptyState>
          )
        }
      </QueryBoundary>
      <SidePanel
        opened={creating || changed !== undefined}
        onClose={close}
        size="lg"
        title={changed ? 'Change service account' : 'Add service account'}
        closeOnClickOutside={false}
      >
        <ServiceAccountForm
          account={changed}
          onClose={close}
          onCreated={({ client_id, client_secret, scopes }) => {
            close()
            setShown({ clientId: client_id, secret: client_secret, isSender: scopes.includes('telemetry:write') })
          }}
        />
      </SidePanel>
      <ConfirmDialog
        opened={asked?.action === 'rotate'}
        onClose={close}
        title={`Rotate the secret of ${account?.name}?`}
        confirmLabel="Make a new secret"
        failed="The secret was not rotated"
        send={() => hub.POST('/api/v1/service-accounts/{client_id}:rotate-secret', { params, body: {} })}
        refresh={['/api/v1/service-accounts']}
        onDone={({ client_id, client_secret, previous_secret_expires_at }) =>
          setShown({ clientId: client_id, secret: client_secret, formerUntil: previous_secret_expires_at })
        }
      >
        <Text size="sm">
          {`The new secret is good at once, the present one for another ${secretOverlapHours} hours: time to give the program the new one. Two are good at most, so rotating twice ends one that leaked. Access tokens go on.`}
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked?.action === 'disable'}
        onClose={close}
        title={`Disable ${account?.name} for good?`}
        confirmLabel="Disable for good"
        danger
        failed="The account was not disabled"
        send={() => hub.DELETE('/api/v1/service-accounts/{client_id}', { params })}
        done={`${account?.name} is disabled.`}
        refresh={['/api/v1/service-accounts']}
      >
        <Text size="sm">
          Its secrets stop working at once and its access tokens within 5 seconds. This cannot be taken back: the
          program then needs another account. What it wrote stays.
        </Text>
      </ConfirmDialog>
      <OneTimeSecret
        title="Client id and secret"
        about={
          shown?.formerUntil
            ? `The former secret is good until ${formatTime(shown.formerUntil)}. The new one is not shown again: if it is lost, rotate once more.`
            : 'Give them to the program. The secret is not shown again: if it is lost, rotate it.'
        }
        secrets={
          shown && [
            { label: 'Client id', value: shown.clientId },
            { label: 'Client secret', value: shown.secret },
          ]
        }
        onClose={() => setShown(undefined)}
      >
        {shown?.isSender ? (
          <SendFirstEvent clientId={shown.clientId} clientSecret={shown.secret} />
        ) : (
          shown && <TokenCommand clientId={shown.clientId} />
        )}
      </OneTimeSecret>
    </>
  )
}

/** Shows snippets with the new credentials, and waits for the first event of the account. */
function SendFirstEvent(account: { clientId: string; clientSecret: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600}>
        Send the first event
      </Text>
      <Suspense fallback={null}>
        <QuickStart account={account} />
        <FirstArrival clientId={account.clientId} />
      </Suspense>
    </Stack>
  )
}

/** Shows how a program gets a token. The secret is in a variable, because shells store commands, and piped, because `ps` shows arguments. */
function TokenCommand({ clientId }: { clientId: string }) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        Getting a token, with the secret in CLIENT_SECRET
      </Text>
      <Code block tabIndex={0} role="region" aria-label="Command that gets a token">
        {`printf 'user = "%s"' "${clientId}:$CLIENT_SECRET" \\\n  | curl -s --config - ${apiBaseUrl}/api/v1/oauth/token -d grant_type=client_credentials`}
      </Code>
    </div>
  )
}
