import { Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { formatUsdInFull } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { AttentionList } from '../command-center/attention-card.tsx'
import { phrasesOf } from './phrases.ts'
import { UsagePage } from './usage-page.tsx'
import { UsageSection } from './usage-section.tsx'

const route = getRouteApi('/usage/models/$modelId')

/** Shows a model: its usage and its prices. */
export default function ModelPage() {
  const { modelId } = route.useParams()
  const { may } = useMe()
  return (
    <UsagePage group="model" id={modelId} title={modelId} about="A model." words={phrasesOf([modelId])}>
      {may('getPrices') && <PricesOf model={modelId} />}
    </UsagePage>
  )
}

function PricesOf({ model }: { model: string }) {
  const prices = api.useQuery('get', '/api/v1/telemetry/prices', {}, { staleTime: 60_000 })
  return (
    <UsageSection
      title="Price overrides"
      more={
        <LinkText to="/settings/prices" size="sm">
          All prices
        </LinkText>
      }
    >
      <QueryBoundary query={prices} what="prices">
        {({ prices: all, catalogue }) => {
          const own = all.filter(({ llm_model }) => llm_model === model)
          return own.length === 0 ? (
            <Text size="sm">
              {`None. The calculated cost uses the list prices of ${catalogue.source} ${catalogue.version}.`}
            </Text>
          ) : (
            <AttentionList
              items={own.map((price) => ({
                id: `${price.llm_platform} ${price.effective_from}`,
                name: `${formatUsdInFull(price.input_usd_per_mtok)} per 1M input tokens, ${formatUsdInFull(price.output_usd_per_mtok)} per 1M output tokens`,
                said: (
                  <>
                    {price.llm_platform ?? 'Every platform'}, from <TimeText iso={price.effective_from} form="minute" />
                    {price.effective_until && (
                      <>
                        {' '}
                        until <TimeText iso={price.effective_until} form="minute" />
                      </>
                    )}
                  </>
                ),
              }))}
            />
          )
        }}
      </QueryBoundary>
    </UsageSection>
  )
}
