import { Button, Menu } from '@mantine/core'
import { IconBellRinging, IconPlus } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { webhooksMax } from '../../../contract/limits.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import type { Webhook } from '../webhooks/webhook-form.ts'
import { AlertRulesTable } from './alert-rules-table.tsx'
import { RulesForm } from './rules-form.tsx'

const nameOf = ({ description, url }: Webhook) => description || url

/** Shows the alert rules of all endpoints, and edits them. */
export default function AlertRulesPage() {
  const me = useMe()
  const [edited, setEdited] = useState<{ webhookId: string; isNew: boolean }>()
  const close = () => setEdited(undefined)
  const webhooks = api.useQuery('get', '/api/v1/webhooks', { params: { query: { limit: webhooksMax } } })
  const rules = useMemo(
    () =>
      (webhooks.data?.items ?? []).flatMap((webhook) =>
        (webhook.alerts ?? []).map((rule, at) => ({
          ...{ id: `${webhook.webhook_id} ${at}`, rule, webhookId: webhook.webhook_id },
          endpoint: nameOf(webhook),
        })),
      ),
    [webhooks.data],
  )
  const endpoints = webhooks.data?.items ?? []
  const add = me.may('updateWebhook') && endpoints.length > 0 && (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button leftSection={<IconPlus size={16} />}>Add rule</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Endpoint that is notified</Menu.Label>
        {endpoints.map((webhook) => (
          <Menu.Item key={webhook.webhook_id} onClick={() => setEdited({ webhookId: webhook.webhook_id, isNew: true })}>
            {nameOf(webhook)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
  return (
    <>
      <PageHeader
        title="Alert rules"
        about="Rules watch error rate, latency and cost over time windows. Each alert is sent once when it opens and once when it closes, to the endpoint of its rule."
        actions={rules.length > 0 ? add : undefined}
      />
      <QueryBoundary query={webhooks} what="alert rules">
        {() =>
          rules.length > 0 ? (
            <AlertRulesTable
              rules={rules}
              onOpen={me.may('updateWebhook') ? ({ webhookId }) => setEdited({ webhookId, isNew: false }) : undefined}
            />
          ) : (
            <EmptyState
              title="No alert rules yet"
              icon={IconBellRinging}
              action={
                endpoints.length > 0 ? (
                  add
                ) : (
                  <LinkButton to="/webhooks" search={{ add: '1' }}>
                    Add endpoint
                  </LinkButton>
                )
              }
            >
              {endpoints.length > 0
                ? 'A rule tells an endpoint when a skill, person or archetype exceeds a threshold, and when that is over.'
                : 'Alerts are sent to webhook endpoints: your own system, Slack or Microsoft Teams. Add an endpoint first.'}
            </EmptyState>
          )
        }
      </QueryBoundary>
      <SidePanel
        opened={edited !== undefined}
        onClose={close}
        title="Alert rules of the endpoint"
        size="lg"
        closeOnClickOutside={false}
      >
        {edited && <RulesForm {...edited} onClose={close} />}
      </SidePanel>
    </>
  )
}
