import { Button, Stack, Text, Title } from '@mantine/core'
import { IconCoin, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Price, PriceForm } from './price-form.tsx'
import { PricesTable } from './prices-table.tsx'
import { Reprice } from './reprice.tsx'
import { pricesPath, savePrices } from './save-prices.ts'
import { UnpricedModels, useCostsByModel } from './unpriced-models.tsx'

/** Shows the prices that differ from the list, and models without a price. */
export default function PricesPage() {
  const me = useMe()
  const mayChange = me.may('replacePrices')
  const prices = api.useQuery('get', pricesPath, {})
  const byModel = useCostsByModel()
  const [adding, setAdding] = useState<Partial<Price>>()
  const [asked, setAsked] = useState<{ action: 'change' | 'remove'; price: Price }>()
  const changed = asked?.action === 'change' ? asked.price : undefined
  const shown = adding ?? changed
  const close = () => {
    setAdding(undefined)
    setAsked(undefined)
  }
  const begin = (llmModel?: string) =>
    setAdding({ ...(llmModel && { llm_model: llmModel }), effective_from: startOfMonth() })

  const add = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => begin()}>
      Add price
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Prices"
        help={<Help term="Price override" />}
        about="The Hub calculates the cost of each event from its tokens, at list prices. Add a price if you pay another one, or for a model that no list has."
        actions={add}
      />
      <Stack gap="xl">
        <Stack component="section" aria-labelledby="own" gap="sm">
          <Title order={2} id="own">
            Your own prices
          </Title>
          <QueryBoundary query={prices} what="prices">
            {(data) => (
              <>
                {data.prices.length > 0 ? (
                  <PricesTable prices={data.prices} mayChange={mayChange} onAsk={setAsked} />
                ) : (
                  <EmptyState
                    title="List prices hold for everything"
                    icon={IconCoin}
                    action={
                      mayChange && (
                        <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => begin()}>
                          Add the first price
                        </Button>
                      )
                    }
                  >
                    No price of your own is set.
                  </EmptyState>
                )}
                <Text size="sm" c="dimmed" maw="44rem">
                  {`In US dollars per million tokens. For other models the open catalogue ${data.catalogue.source}, version ${data.catalogue.version}, applies. A new price applies to events received from now on, including those with an earlier time. Stored events keep their cost until they are repriced.`}
                </Text>
              </>
            )}
          </QueryBoundary>
        </Stack>
        {/* Each part waits for the one above it, so that nothing moves. */}
        {!prices.isPending && <UnpricedModels byModel={byModel} onAdd={mayChange ? begin : undefined} />}
        {!prices.isPending && !byModel.isPending && me.may('rateTelemetryAgain') && <Reprice />}
      </Stack>
      <Dialog opened={shown !== undefined} onClose={close} title={changed ? 'Change price' : 'Add price'}>
        {shown && <PriceForm price={shown} replaces={changed} onClose={close} />}
      </Dialog>
      <ConfirmDialog
        opened={asked?.action === 'remove'}
        onClose={close}
        title={`Remove the price of ${asked?.price.llm_model}?`}
        confirmLabel="Remove price"
        danger
        failed="The price was not removed"
        send={() => savePrices({ remove: asked?.price })}
        done="The price is removed."
        refresh={[pricesPath]}
      >
        <Text size="sm">
          Events that come in from now on have an earlier price of yours, the list price, or none. Stored events keep
          their cost until they are repriced. You can add the price again.
        </Text>
      </ConfirmDialog>
    </>
  )
}

/** Returns the start of the month in the user's time zone: most prices begin with a month. */
function startOfMonth(): string {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth()).toISOString()
}
