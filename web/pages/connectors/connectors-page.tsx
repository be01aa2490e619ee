import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlug, IconPlus } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Dialog, SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { OneTimeSecret } from '../../ui/one-time-secret.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ConnectorDetails } from './connector-details.tsx'
import { ConnectorForm } from './connector-form.tsx'
import { type Connector, connectorColumns, connectorsPath } from './connectors-table.tsx'

const route = getRouteApi('/skills/connectors')
const everyMs = 10_000

export default function ConnectorsPage() {
  const { connector: openId } = route.useSearch()
  const navigate = useNavigate({ from: '/skills/connectors' })
  const [adding, { open: add, close: endAdding }] = useDisclosure(false)
  const [secret, setSecret] = useState<{ label: string; value: string }[]>()
  // A tenant has at most 100.
  const connectors = api.useQuery(
    'get',
    connectorsPath,
    { params: { query: { limit: 100 } } },
    { refetchInterval: everyMs },
  )
  const shown = connectors.data?.items.find(({ connector_id }) => connector_id === openId)

  function saved(connector: Connector) {
    endAdding()
    void navigate({ search: { connector: connector.connector_id } })
    if (connector.inbound.secret) setSecret(secretOf(connector.inbound.connection_id, connector.inbound.secret))
  }

  const addButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={add}>
      Add connector
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Connectors"
        help={<Help term="Connector" />}
        about="Platforms that the published skills go to. At least one of them has to take a publish each minute for the tenant to be live."
        actions={connectors.data?.items.length ? addButton : undefined}
      />
      <QueryBoundary query={connectors} what="connectors">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No platform is connected yet" icon={IconPlug} action={addButton}>
              A connector brings the skills that people may use to Claude, ChatGPT, Gemini, Copilot, Slack or a platform
              of your own.
            </EmptyState>
          ) : (
            <DataTable
              label="Connectors"
              rows={items}
              columns={connectorColumns}
              rowId={({ connector_id }) => connector_id}
              openId={openId}
              onOpen={({ connector_id }) => void navigate({ search: { connector: connector_id } })}
            />
          )
        }
      </QueryBoundary>
      <Dialog opened={adding} onClose={endAdding} title="Add a connector" size="lg">
        <ConnectorForm onSaved={saved} onCancel={endAdding} />
      </Dialog>
      <SidePanel
        opened={shown !== undefined}
        onClose={() => void navigate({ search: {} })}
        position="right"
        size="lg"
        kind="Connector"
        title={shown?.display_name}
      >
        {shown && (
          <ConnectorDetails
            key={shown.connector_id}
            connector={shown}
            onSecret={(value) => setSecret(secretOf(shown.inbound.connection_id, value))}
            onRemoved={() => void navigate({ search: {} })}
          />
        )}
      </SidePanel>
      <OneTimeSecret
        title="Secret for inbound messages"
        about="Where the platform sends webhooks to the Hub, it signs them with this secret, and sends them to the connection named here. Should it be lost, rotate it: the former one stays good for 24 hours."
        secrets={secret}
        onClose={() => setSecret(undefined)}
      />
    </>
  )
}

const secretOf = (connectionId: string, value: string) => [
  { label: 'Connection', value: connectionId },
  { label: 'Secret', value },
]
