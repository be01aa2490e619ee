import { Button, Group, Stack, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import * as v from 'valibot'
import { webhookDeliveryDays } from '../../../contract/limits.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { cursorOptions, hasOnePage, moreOf } from '../../components/cursor-pagination.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { SavedViews } from '../../components/saved-views.tsx'
import { viewQuery } from '../../components/view-query.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { BulkRedeliver } from './bulk-redeliver.tsx'
import { DeliveriesTable } from './deliveries-table.tsx'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { DeliveryFilters } from './delivery-filters.tsx'
import { type EndpointSearch, endpointSearch } from './endpoint-search.ts'
import type { Webhook } from './webhook-form.ts'

const route = getRouteApi('/webhooks/$webhookId')

/** Shows the deliveries to an endpoint and their results. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const me = useMe()
  const search = route.useSearch()
  const navigate = useNavigate()
  const [redelivering, setRedelivering] = useState(false)
  const { webhook_id } = webhook
  const { status, kind, from, until, delivery, view } = search
  const go = (next: EndpointSearch, replace = true) =>
    void navigate({ to: '/webhooks/$webhookId', params: { webhookId: webhook_id }, search: next, replace })
  const deliveries = api.useInfiniteQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/deliveries',
    {
      params: {
        path: { webhook_id },
        query: {
          limit: 50,
          ...(status && { status }),
          ...(kind && { kind }),
          ...(from && { created_at__gte: from }),
          ...(until && { created_at__lt: until }),
        },
      },
    },
    {
      ...cursorOptions,
      // Polls only while the first page alone is loaded: every page is a call.
      refetchInterval: (query) => hasOnePage(query) && 10_000,
    },
  )
  const narrowed = status ?? kind ?? from ?? until
  return (
    <Stack component="section" aria-labelledby="deliveries" gap="sm">
      <Group justify="space-between">
        <Title order={2} id="deliveries">
          Deliveries
        </Title>
        <Group gap="xs">
          {me.may('redeliverSince') && (
            <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={() => setRedelivering(true)}>
              Redeliver several
            </Button>
          )}
          <SavedViews
            page="deliveries"
            query={viewQuery({ status, kind, from, until })}
            viewId={view}
            onChoose={(chosen) =>
              go(
                chosen
                  ? {
                      ...v.parse(endpointSearch, Object.fromEntries(new URLSearchParams(chosen.query))),
                      view: chosen.view_id,
                    }
                  : { status, kind, from, until },
                false,
              )
            }
          />
        </Group>
      </Group>
      <DeliveryFilters search={search} onChange={go} />
      <QueryBoundary query={deliveries} what="deliveries">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items)
          if (rows.length === 0) {
            return narrowed ? (
              <EmptyState
                title="No such deliveries"
                action={<Button onClick={() => go({})}>Show all deliveries</Button>}
              >
                {`Nothing of the last ${webhookDeliveryDays} days is of this status, kind and time.`}
              </EmptyState>
            ) : (
              <EmptyState title="Nothing was sent yet">
                Nothing happened that this endpoint asked for. Send a test message to see that its receiver takes it.
              </EmptyState>
            )
          }
          return (
            <DeliveriesTable
              rows={rows}
              openId={delivery}
              onOpen={({ delivery_id }) => go({ ...search, delivery: delivery_id }, false)}
              more={moreOf(deliveries)}
            />
          )
        }}
      </QueryBoundary>
      <DeliveryDrawer
        webhookId={webhook_id}
        deliveryId={delivery}
        onClose={() => go({ ...search, delivery: undefined })}
      />
      {redelivering && (
        <BulkRedeliver onClose={() => setRedelivering(false)} webhookId={webhook_id} from={from} until={until} />
      )}
    </Stack>
  )
}
