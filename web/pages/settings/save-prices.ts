import { type ApiResponse, hub } from '../../api/api-client.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatTime } from '../../ui/time-text.tsx'

type Price = ApiResponse<'getPrices'>['prices'][number]

/** The list is another than the reader saw; nothing was saved. Says why, and what to do. */
export class PriceConflict extends Error {
  override readonly name = 'PriceConflict'
}

/** What tells one entry of the list from another. The same moment may be written in several ways. */
export function priceId({ llm_platform = '', llm_model, effective_from }: Price): string {
  return JSON.stringify([llm_platform, llm_model, Date.parse(effective_from)])
}

/**
 * Changes one entry of the list of prices. The Hub replaces the list as a whole, so it is read anew right before: what
 * somebody else has changed meanwhile stays.
 *
 * @throws PriceConflict where the entry that was to be changed is another by now, or the new one has a twin;
 *   what the Hub refuses (HubProblem)
 */
export async function savePrices({ add, remove }: { add?: Price; remove?: Price | undefined }): Promise<void> {
  const { data } = await hub.GET('/api/v1/telemetry/prices', {})
  const now = data?.prices ?? []
  const kept = remove ? now.filter((price) => priceId(price) !== priceId(remove)) : [...now]
  const found = remove && now.find((price) => priceId(price) === priceId(remove))
  if (remove && JSON.stringify(found) !== JSON.stringify(remove)) {
    await refreshPrices()
    throw new PriceConflict(
      `Somebody ${found ? 'changed' : 'removed'} this price in the meantime. The list has it as it is now: close this, look, and begin again.`,
    )
  }
  const twin = add && kept.find((price) => priceId(price) === priceId(add))
  if (twin) {
    throw new PriceConflict(
      `There is a price of ${twin.llm_model} already that begins at ${formatTime(twin.effective_from)}${twin.llm_platform ? ` on ${twin.llm_platform}` : ''}. Change that one, or let this one begin at another time.`,
    )
  }
  await hub.PUT('/api/v1/telemetry/prices', { body: { prices: add ? [...kept, add] : kept } })
  await refreshPrices()
}

function refreshPrices(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/telemetry/prices'] })
}
