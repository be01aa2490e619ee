import { Button } from '@mantine/core'
import { IconBell, IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { webhooksMax } from '../../../contract/limits.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { useAdding } from '../../components/use-adding.ts'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EndpointsTable } from './endpoints-table.tsx'
import { VerificationCode } from './verification-code.tsx'
import { WebhookEditor } from './webhook-editor.tsx'
import type { Webhook } from './webhook-form.ts'

/** Shows endpoints of other systems that receive the tenant's events. */
export default function WebhooksPage() {
  const me = useMe()
  const navigate = useNavigate()
  const [adding, { open: startAdding, close: endAdding }] = useAdding()
  const [added, setAdded] = useState<Webhook>()
  const webhooks = api.useQuery(
    'get',
    '/api/v1/webhooks',
    { params: { query: { limit: webhooksMax } } },
    { refetchInterval: 15_000 },
  )
  const add = me.may('createWebhook') && (
    <Button leftSection={<IconPlus size={16} />} onClick={startAdding}>
      Add endpoint
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Webhooks"
        help={<Help term="Webhook endpoint" />}
        about="Systems that the Hub tells what happens in the tenant, by signed messages. Open an endpoint to see what it was sent and what came of it."
        actions={webhooks.data?.items.length ? add : undefined}
      />
      <QueryBoundary query={webhooks} what="endpoints">
        {({ items }) =>
          items.length > 0 ? (
            <EndpointsTable webhooks={items} />
          ) : (
            <EmptyState title="No endpoints yet" icon={IconBell} action={add}>
              Add the address of a system that receives events about people who join and leave, of invocations that fail
              or cost too much, or of governance events, such as a SIEM. Every message is signed with a secret of its
              own.
            </EmptyState>
          )
        }
      </QueryBoundary>
      <SidePanel opened={adding} onClose={endAdding} title="Add endpoint" size="lg" closeOnClickOutside={false}>
        <WebhookEditor
          onClose={endAdding}
          onSaved={(webhook) => {
            endAdding()
            setAdded(webhook)
          }}
        />
      </SidePanel>
      <OneTimeSecret
        title="The endpoint’s secret"
        about="Every message is signed with it. Give it to the receiver; the Hub does not show it again. If it is lost, rotate it."
        secrets={added?.secret ? [{ label: 'Secret', value: added.secret }] : undefined}
        onClose={() => {
          if (added) void navigate({ to: '/webhooks/$webhookId', params: { webhookId: added.webhook_id } })
          setAdded(undefined)
        }}
      >
        <VerificationCode />
      </OneTimeSecret>
    </>
  )
}
