import { type Answer, hub } from '../../api/hub.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatTime } from '../../ui/time-text.tsx'

type Price = Answer<'getPrices'>['prices'][number]

/** What tells one entry of the list from another. */
export function priceId({ llm_platform = '', llm_model, effective_from }: Price): string {
  return JSON.stringify([llm_platform, llm_model, effective_from])
}

/**
 * Changes one entry of the list of prices. The Hub replaces the list as a whole, so it is read anew right before: what
 * somebody else has changed meanwhile stays.
 *
 * @throws Error where the entry that was to be changed is another by now; what the Hub refuses (HubProblem)
 */
export async function savePrices({ add, remove }: { add?: Price; remove?: Price | undefined }): Promise<void> {
  const { data } = await hub.GET('/api/v1/telemetry/prices', {})
  const now = data?.prices ?? []
  const kept = remove ? now.filter((price) => priceId(price) !== priceId(remove)) : [...now]
  const found = remove && now.find((price) => priceId(price) === priceId(remove))
  if (remove && JSON.stringify(found) !== JSON.stringify(remove)) {
    await refreshPrices()
    throw new Error('somebody changed this price in the meantime; look at the list and try again')
  }
  const twin = add && kept.find((price) => priceId(price) === priceId(add))
  if (twin) {
    throw new Error(
      `there is a price of ${twin.llm_model} that begins at ${formatTime(twin.effective_from)}: change that one`,
    )
  }
  await hub.PUT('/api/v1/telemetry/prices', { body: { prices: add ? [...kept, add] : kept } })
  await refreshPrices()
}

function refreshPrices(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/telemetry/prices'] })
}
